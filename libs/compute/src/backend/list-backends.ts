import { type BackendName, ORDER_OF_CHOICE } from './backend.js';
import { type ComputeEnvironment, readComputeEnvironment } from './compute-environment.js';
import { findDamage, findInstallations } from './installer/installation.js';
import { backendObstacle } from './open-backend.js';

export interface BackendStatus {
  readonly name: BackendName;
  /** Whether `openBackend` would try it. */
  readonly isAvailable: boolean;
  /** The first available one in the order of choice, or the one that RETRACE_BACKEND names. */
  readonly isChosen: boolean;
  /** Reason for which it is not available, or null. */
  readonly obstacle: string | null;
  /** Its installations by `installBackend`, the newest version first, whether or not they can run now. */
  readonly installations: readonly InstallationStatus[];
}

export interface InstallationStatus {
  readonly directory: string;
  readonly tensorflowVersion: string;
  /** Whether this is the version that is opened: the one that RETRACE_TENSORFLOW names, or the default. */
  readonly isSelected: boolean;
  readonly sizeBytes: number;
  /** The first file that differs from what was installed; null if none does, or nothing was verified. */
  readonly damage: string | null;
}

export interface ListBackendsOptions {
  readonly environment?: ComputeEnvironment;
  /** Compare the checksum of every installed file, which reads about 600 MB a version. */
  readonly verify?: boolean;
}

/**
 * Says of each backend in the order of choice whether it can be used here. Loads none of them.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` as `readComputeEnvironment` does
 */
export async function listBackends({
  environment = readComputeEnvironment(),
  verify = false,
}: ListBackendsOptions = {}): Promise<readonly BackendStatus[]> {
  const statuses: BackendStatus[] = [];
  for (const name of ORDER_OF_CHOICE) {
    const obstacle = await backendObstacle(name, environment);
    const isAvailable = obstacle === null;
    const isFirst = isAvailable && !statuses.some(({ isChosen }) => isChosen);
    const isChosen = isFirst && environment.backends.includes(name);
    const installations = await listInstallations(name, environment, verify);
    statuses.push({ name, isAvailable, isChosen, obstacle, installations });
  }
  return statuses;
}

async function listInstallations(
  name: BackendName,
  { cacheDirectory, tensorflowVersion }: ComputeEnvironment,
  verify: boolean,
): Promise<InstallationStatus[]> {
  if (name !== 'tensorflow' && name !== 'tensorflow-cuda') return [];
  const installations = await findInstallations(cacheDirectory, name === 'tensorflow' ? 'cpu' : 'cuda');
  return Promise.all(
    installations.map(async (installation) => ({
      directory: installation.directory,
      tensorflowVersion: installation.manifest.tensorflowVersion,
      isSelected: installation.manifest.tensorflowVersion === tensorflowVersion,
      sizeBytes: installation.sizeBytes,
      damage: verify ? await findDamage(installation) : null,
    })),
  );
}
