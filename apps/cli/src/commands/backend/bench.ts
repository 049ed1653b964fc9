import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { benchBackend, listBackends, ORDER_OF_CHOICE, type BackendBench } from '@retrace/compute';
import { CliError } from '../../cli-error.js';
import { installation } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { renderRecords } from '../../terminal/table.js';

/** Times one backend in this process, or all usable ones in processes of their own, and prints the figures. */
export async function bench(name: string | undefined, { json }: CommonOptions): Promise<void> {
  const results = name === undefined ? await benchUsableBackends() : [await benchOneBackend(name)];
  console.log(json === true ? JSON.stringify(results, null, 2) : renderRecords(results));
}

/** @throws CliError `BACKEND_UNKNOWN`; PolicyError when the backend can't be opened */
async function benchOneBackend(name: string): Promise<BackendBench> {
  const known = ORDER_OF_CHOICE.find((backend) => backend === name);
  if (known === undefined) {
    throw new CliError(
      'BACKEND_UNKNOWN',
      `unknown backend "${name}"; choose one of ${ORDER_OF_CHOICE.join(', ')}`,
    );
  }
  return benchBackend(known);
}

/** Benches the usable backends one after the other. Each gets its own process, which can open only one backend. */
async function benchUsableBackends(): Promise<BackendBench[]> {
  const results: BackendBench[] = [];
  for (const { name, isAvailable } of await listBackends()) {
    if (!isAvailable) continue;
    const args = [installation.command, 'backend', 'bench', name, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    results.push(...(JSON.parse(stdout) as BackendBench[]));
  }
  return results;
}
