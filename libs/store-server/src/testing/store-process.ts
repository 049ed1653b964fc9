import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleForChild, type ChildModule } from '@retrace/log/contract';

export const FULL_USER = { username: 'retrace', password: 'p&ss:wörd' };
export const READONLY_USER = { username: 'retrace_readonly', password: 'read only' };

/** The exit code and stderr of a store process that ended by itself. */
class StoreProcessEnded extends Error {
  constructor(
    readonly exitCode: number | null,
    readonly stderr: string,
  ) {
    super(`the store process ended with ${exitCode}: ${stderr}`);
  }
}

/** A store server in a separate process, which tests can kill. */
export class StoreProcess {
  private constructor(
    readonly url: string,
    readonly pid: number,
    private readonly child: ChildProcess,
  ) {}

  /** @throws StoreProcessEnded when it does not come up */
  static async start(
    module: ChildModule,
    directory: string,
    environment: Record<string, string> = {},
  ): Promise<StoreProcess> {
    const child = fork(module.path, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        STORE_DIRECTORY: directory,
        STORE_PORT: '0',
        STORE_PASSWORD: FULL_USER.password,
        STORE_READONLY_PASSWORD: READONLY_USER.password,
        UV_THREADPOOL_SIZE: '8',
        ...environment,
      },
    });
    let stderr = '';
    child.stderr?.on('data', (chunk) => (stderr += chunk));
    const url = await new Promise<string>((resolve, reject) => {
      let stdout = '';
      child.stdout?.on('data', (chunk) => {
        stdout += chunk;
        const address = /at (http:\S+)/.exec(stdout)?.[1];
        if (address !== undefined) resolve(address);
      });
      child.once('close', (code) => reject(new StoreProcessEnded(code, stderr)));
    });
    return new StoreProcess(url, Number(child.pid), child);
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Asks the process to stop; resolves with its exit code. */
  async stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
    return this.child.exitCode;
  }
}

/** Creates a directory for a test, and the store program to run on it. */
export async function createStoreBench(): Promise<{
  directory: string;
  module: ChildModule;
  remove: () => Promise<void>;
}> {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-store-'));
  const module = await bundleForChild(new URL('./store-program.ts', import.meta.url));
  return {
    directory,
    module,
    remove: async () => {
      await module.remove();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
