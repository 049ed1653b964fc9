import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-tool.mjs';

/**
 * Installs the CUDA backend where a GPU is visible. Returns null when it can compute, otherwise a sentence with the reason: no GPU,
 * no package index, no compiler. Downloads nothing where no GPU is visible.
 */
export async function gpuObstacle() {
  const library = join(root, 'libs', 'compute', 'dist', 'index.js');
  if (!existsSync(library)) return 'this checkout is not built (npm ci && npm run build)';
  const { ensureBackend, listBackends, readComputeEnvironment } = await import(library);
  if (readComputeEnvironment().gpus.length === 0) return 'no NVIDIA GPU is visible';
  const statuses = await listBackends();
  if (statuses.some(({ name, isAvailable }) => name === 'tensorflow-cuda' && isAvailable)) return null;
  const { isInstalled, message } = await ensureBackend({
    cuda: true,
    onProgress: ({ stage, message: detail, fraction }) => {
      if (process.stderr.isTTY)
        process.stderr.write(`\r${stage}: ${detail} ${Math.round(100 * fraction)} %   `);
    },
  });
  return isInstalled ? null : message;
}
