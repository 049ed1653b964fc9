import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { benchBackend, listBackends, orderOfChoice, type BackendBench } from '@retrace/compute';
import { CliError } from '../../cli-error.js';
import { installation } from '../../installation.js';

/** @throws CliError `BACKEND_UNKNOWN`; PolicyError when it can't be opened */
export async function benchOneBackend(name: string): Promise<BackendBench> {
  const known = orderOfChoice.find((backend) => backend === name);
  if (known === undefined) {
    throw new CliError(
      'BACKEND_UNKNOWN',
      `backend: got "${name}", must be one of ${orderOfChoice.join(', ')}`,
    );
  }
  return benchBackend(known);
}

/** All usable backends one after the other, each in a process of its own: a process keeps the backend it has opened. */
export async function benchUsableBackends(): Promise<BackendBench[]> {
  const results: BackendBench[] = [];
  for (const { name, isAvailable } of await listBackends()) {
    if (!isAvailable) continue;
    const args = [installation.scripts.retrace, 'backend', 'bench', name, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    results.push(...(JSON.parse(stdout) as BackendBench[]));
  }
  return results;
}
