/**
 * Compares an NVIDIA GPU with the processor of the same machine: matrix products, op overhead, and training steps of two shapes.
 * Prints *skipped, because …* and records nothing where there is no GPU or its libraries can't be installed.
 *
 *   npm run bench -- gpu
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gpuObstacle } from '../scripts/gpu-backend.mjs';
import { root } from '../scripts/run-tool.mjs';

const obstacle = await gpuObstacle();
if (obstacle !== null) {
  console.log(`gpu: skipped, because ${obstacle}`);
  process.exit(0);
}
const figures = [];
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');
const run = (script, args, environment = {}) =>
  execFileSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
for (const name of ['tensorflow-cuda', 'tensorflow']) {
  const environment = { RETRACE_BACKEND: name };
  const [bench] = JSON.parse(run(retrace, ['backend', 'bench', name, '--json'], environment));
  report(`${name}: matrix product of ${bench.matrixSize}²`, bench.matmulGigaflops, 'Gflop/s');
  report(`${name}: one small op`, bench.opOverheadMicroseconds, 'µs');
  for (const step of JSON.parse(run(join(root, 'bench', 'training-step.mjs'), [], environment))) {
    report(`${name}: training step, ${step.shape}`, step.milliseconds, 'ms');
    report(`${name}: trained tokens, ${step.shape}`, step.tokensPerSecond, '/s');
  }
}
if (process.env.RETRACE_RESULT_FILE) {
  const query = ['--query-gpu=name,driver_version', '--format=csv,noheader'];
  const [device] = execFileSync('nvidia-smi', query, { encoding: 'utf8' }).split('\n');
  writeFileSync(
    process.env.RETRACE_RESULT_FILE,
    JSON.stringify({ title: `GPU beside processor: ${device}`, figures }),
  );
}

function report(name, value, unit) {
  console.log(`${name}: ${value.toFixed(1)} ${unit}`);
  figures.push({ name, value, unit });
}
