import { fork, type ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { EventLog } from '../event-log.js';
import { bundleForChild, type ChildModule } from './child-module.contract.js';
import type { ProcessRequest } from './process-main.contract.js';
import { WriterProcess } from './writer-process.contract.js';

export interface EventLogHarness {
  readonly adapter: string;
  /** Returns a location without a log: a directory or a topic prefix. */
  createLocation(): Promise<string>;
  removeLocation(location: string): Promise<void>;
  openLog(location: string): Promise<EventLog>;
  /** A module for child processes, which calls `serveContractProcess` with this adapter's `openLog`. */
  readonly processModule: URL;
}

/** Opens handles and processes on the log of one test, which is deleted after the test. */
export interface ContractContext {
  /** Opens another handle on the test's log. */
  readonly open: () => Promise<EventLog>;
  /** Starts another process that writes to the test's log. */
  readonly startProcess: (request: Omit<ProcessRequest, 'location'>) => WriterProcess;
}

export function useContractContext(harness: EventLogHarness): ContractContext {
  const children = new Set<ChildProcess>();
  const logs = new Set<EventLog>();
  let childModule: ChildModule;
  let location: string;

  beforeAll(async () => {
    childModule = await bundleForChild(harness.processModule);
  });
  afterAll(() => childModule.remove());
  beforeEach(async () => {
    location = await harness.createLocation();
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
    await Promise.all([...logs].map((log) => log.close()));
    logs.clear();
    await harness.removeLocation(location);
  });

  return {
    open: async () => {
      const log = await harness.openLog(location);
      logs.add(log);
      return log;
    },
    startProcess: (request) => {
      const child = fork(childModule.path, { stdio: 'inherit' });
      children.add(child);
      child.send({ ...request, location });
      return new WriterProcess(child);
    },
  };
}
