import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installTorch } from './torch-environment.mjs';
import { makePythonEnvironment, pipInstall } from './python-client.mjs';

const VERL = 'verl==0.9.1';
/** Of the torch worker, and what verl's FSDP engine imports. */
const PACKAGES = [
  ...['aiohttp==3.14.5', 'numpy>=2,<3', 'pyarrow>=19', 'safetensors==0.8.0'],
  ...['accelerate', 'codetiming', 'datasets', 'hydra-core', 'orjson', 'pandas', 'peft', 'pillow'],
  ...['psutil', 'ray', 'tensordict>=0.8,<=0.10,!=0.9.0', 'transformers>=5.5.3,<5.11,!=5.6.0'],
];

/** transformers asks CUDA whether it captures a graph, and the stubs in its place crash. */
const ASK_NO_STUB = `
import torch.cuda.graphs as graphs
with open(graphs.__file__, "a") as file:
    file.write("\\n\\ndef is_current_stream_capturing():\\n    return False\\n")
`;

const run = promisify(execFile);

/**
 * Makes a Python environment with torch and the published verl in the cache, once.
 *
 * @returns {Promise<{ python: string } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export function verlEnvironment() {
  return makePythonEnvironment(VERL.replaceAll('=', '-'), async (python, directory) => {
    await installTorch(python, directory);
    await pipInstall(python, PACKAGES);
    await pipInstall(python, ['--no-deps', VERL]);
    await run(python, ['-c', ASK_NO_STUB]);
  });
}
