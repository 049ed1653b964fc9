import { ComputeError } from './compute-error.js';
import type { InstallOptions } from './installer/install-backend.js';
import { installBackend } from './installer/install-backend.js';
import { chosenTensorflowVersion } from './installer/wheels/tensorflow-version.js';

export interface EnsuredBackend {
  readonly isInstalled: boolean;
  /** One sentence: what is installed, or why the fast backend can't be and what computes instead. */
  readonly message: string;
}

/**
 * Installs the fast backend where that is possible. Never throws for a machine that can't have it: `openBackend` then
 * takes the next one, at worst wasm.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` where RETRACE_TENSORFLOW names no version that is pinned.
 */
export async function ensureBackend(options: InstallOptions = {}): Promise<EnsuredBackend> {
  const version = options.version ?? chosenTensorflowVersion(options.environment);
  try {
    const { manifest } = await installBackend({ ...options, version });
    return { isInstalled: true, message: `TensorFlow ${manifest.tensorflowVersion} is installed.` };
  } catch (error) {
    if (!(error instanceof ComputeError)) throw error;
    return {
      isInstalled: false,
      message: `${error.message} Computing with wasm, which is several times slower.`,
    };
  }
}
