import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './cli.mjs';

/**
 * Runs a spec of `test/long/`, which `npm test` leaves out, and takes over its exit code.
 *
 * @param {string} name
 */
export function runLongSpec(name) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', `test/long/${name}`], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, RETRACE_TESTS: 'long' },
  });
  process.exitCode = status ?? 1;
}
