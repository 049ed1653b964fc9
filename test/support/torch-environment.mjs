import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { environmentPaths, makePythonEnvironment, pipInstall } from './python-client.mjs';

const run = promisify(execFile);
const STUBS = fileURLToPath(new URL('cuda-stubs.py', import.meta.url));

const TORCH = 'torch==2.11.0';
const NAME = 'torch-2.11.0';
/** Packages that torch itself needs on a processor. */
const NEEDED_BY_TORCH = [
  'filelock',
  'fsspec',
  'jinja2',
  'networkx',
  'sympy',
  'typing-extensions',
  'setuptools<82',
];
/** Of the torch worker and its tests. */
const PACKAGES = [
  ...['aiohttp==3.14.5', 'httpx>=0.27', 'numpy>=2,<3', 'pyarrow>=15', 'pytest==9.0.2', 'safetensors==0.8.0'],
];
/** Of `scripts/gpu-check/plain.py`. */
const PEERS = ['transformers==5.8.0', 'peft==0.18.1'];

/**
 * Makes the environment of the torch worker's tests in the cache, once. PyPI's torch for Linux on x86-64 is a CUDA build, which is
 * installed without the 3 GB of CUDA's own libraries: stub libraries take their place, and torch sees no GPU.
 *
 * @returns {Promise<{ python: string } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export function torchEnvironment() {
  return makePythonEnvironment(NAME, async (python, directory) => {
    await pipInstall(python, PACKAGES);
    await installTorch(python, directory);
  });
}

/**
 * The same with transformers and peft, for plain torch loops that the worker is compared with.
 *
 * @returns {Promise<{ python: string } | { unavailable: string }>}
 */
export function torchPeerEnvironment() {
  return makePythonEnvironment(`${NAME}-peers`, async (python, directory) => {
    await pipInstall(python, PACKAGES);
    await installTorch(python, directory);
    await pipInstall(python, PEERS);
  });
}

/**
 * Installs torch for processors.
 *
 * @param {string} python
 * @param {string} directory of its environment
 */
export async function installTorch(python, directory) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return pipInstall(python, [TORCH]);
  await pipInstall(python, [...NEEDED_BY_TORCH]);
  await pipInstall(python, ['--no-deps', TORCH]);
  const [version] = await readdir(join(directory, 'lib'));
  const packages = join(directory, 'lib', version, 'site-packages');
  await run(python, [STUBS, packages]);
  await forgetCuda(packages);
  await run(python, ['-c', 'import torch; assert not torch.cuda.is_available()']);
}

/**
 * The Python of that environment, where `npm run test:engines` has made it; else null. Makes nothing.
 *
 * @returns {string | null}
 */
export function madeTorchPython() {
  const { python } = environmentPaths(NAME);
  return existsSync(python) ? python : null;
}

/** Removes the CUDA packages from what torch says it needs, which pip would complain of with every installation. */
async function forgetCuda(packages) {
  const folder = (await readdir(packages)).find((name) => /^torch-.*dist-info$/.test(name));
  const path = join(packages, folder, 'METADATA');
  const metadata = await readFile(path, 'utf8');
  await writeFile(path, metadata.replace(/^Requires-Dist: (cuda|nvidia|triton)\b.*\n/gm, ''));
}
