import { ComputeError } from './compute-error.js';
import { readComputeEnvironment } from './compute-environment.js';
import { installBackend, type InstallBackendOptions } from './installer/install-backend.js';

export interface EnsuredBackend {
  readonly isInstalled: boolean;
  /** One sentence: the installed version, or why the fast backend can't be installed and which one is used instead. */
  readonly message: string;
}

/**
 * Installs the fast backend where that is possible. Where it is not, `openBackend` uses the next one, at worst wasm.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` as `readComputeEnvironment` does
 */
export async function ensureBackend(options: InstallBackendOptions = {}): Promise<EnsuredBackend> {
  const environment = options.environment ?? readComputeEnvironment();
  try {
    const { manifest } = await installBackend({ ...options, environment });
    return { isInstalled: true, message: `TensorFlow ${manifest.tensorflowVersion} is installed.` };
  } catch (error) {
    if (!(error instanceof ComputeError)) throw error;
    return {
      isInstalled: false,
      message: `${error.message} Computing with wasm, which is several times slower.`,
    };
  }
}
