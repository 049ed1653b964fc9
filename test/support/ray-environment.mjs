import { installTorch } from './torch-environment.mjs';
import { makePythonEnvironment, pipInstall } from './python-client.mjs';

const RAY = 'ray[train]==2.60.0';
/** Of the torch worker. */
const PACKAGES = ['aiohttp==3.14.5', 'numpy>=2,<3', 'pyarrow>=19', 'safetensors==0.8.0'];

/**
 * Makes a Python environment with torch and Ray in the cache, once.
 *
 * @returns {Promise<{ python: string } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export function rayEnvironment() {
  return makePythonEnvironment('ray-2.60.0', async (python, directory) => {
    await installTorch(python, directory);
    await pipInstall(python, [...PACKAGES, RAY]);
  });
}
