import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs a program of this repository with this Node, or another, passes its output on, and resolves with its exit code. A failure ends this process
 * with one sentence, unless `mayFail`.
 */
export async function runTool(
  name,
  script,
  args,
  { node = process.execPath, mayFail = false, environment = {} } = {},
) {
  const startedAt = performance.now();
  const child = spawn(node, [join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('close', (exitCode) => resolve(exitCode ?? 1)));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'done' : 'FAILED'}: ${name} (${seconds} s)`);
  if (code !== 0 && !mayFail) {
    console.error(`${name} failed with exit code ${code}; see above.`);
    process.exit(code);
  }
  return code;
}
