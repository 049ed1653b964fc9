/**
 * `npm run test:gpu`: runs the suites of the policy and compute libraries (goldens of transformers and peft, ops against plain tfjs and
 * finite differences, generation, AdamW) on an NVIDIA GPU, then measures memory over optimizer steps there. Installs the CUDA build
 * first. Where that is impossible, prints *skipped, because …* and exits with 0, or with 1 given `--require`.
 */
import { gpuObstacle } from './gpu-backend.mjs';
import { runTool } from './run-tool.mjs';

const isRequired = process.argv.includes('--require');
const obstacle = await gpuObstacle();
if (obstacle !== null) {
  console.log(`test:gpu: skipped, because ${obstacle}`);
  process.exit(isRequired ? 1 : 0);
}
const environment = { RETRACE_GPU_TESTS: 'on', RETRACE_BACKEND: 'tensorflow-cuda' };
const failed = [];
const suites = await runTool(
  'suites on the GPU',
  'node_modules/vitest/vitest.mjs',
  ['run', 'libs/compute/src', 'libs/policy/src', 'test/gpu'],
  {
    mayFail: true,
    environment,
  },
);
if (suites !== 0) failed.push('suites');
const leaks = await runTool('memory over 2,000 steps', 'test/long/leaks.mjs', ['--steps', '2000'], {
  mayFail: true,
  environment,
});
if (leaks !== 0) failed.push('memory');
console.log(failed.length === 0 ? 'all passed' : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
