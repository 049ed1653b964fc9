import type { BackendName } from './backend.js';
import { orderOfChoice } from './backend.js';
import { defaultCacheDirectory, findDamage, findInstallation } from './installer/installation.js';
import { backendObstacle, backendsOf } from './open-backend.js';

export interface BackendStatus {
  readonly name: BackendName;
  /** Whether `openBackend` would try it. */
  readonly isAvailable: boolean;
  /** The first available one in the order of choice, or the one that RETRACE_BACKEND names. */
  readonly isChosen: boolean;
  /** Why it is not available, or null. */
  readonly obstacle: string | null;
  /** Of what `installBackend` installed, whether or not it can run now. */
  readonly installation: InstallationStatus | null;
}

export interface InstallationStatus {
  readonly directory: string;
  readonly tensorflowVersion: string;
  readonly sizeBytes: number;
  /** What differs from what was installed; null if nothing does, or it was not verified. */
  readonly damage: string | null;
}

export interface ListBackendsOptions {
  readonly cacheDirectory?: string;
  /** Compare the checksum of every installed file: reads some 600 MB. */
  readonly verify?: boolean;
}

/** What each backend of the order of choice would do here. Loads none of them. */
export async function listBackends({
  cacheDirectory = defaultCacheDirectory(),
  verify = false,
}: ListBackendsOptions = {}): Promise<readonly BackendStatus[]> {
  const statuses: BackendStatus[] = [];
  const candidates = backendsOf(process.env);
  for (const name of orderOfChoice) {
    const obstacle = await backendObstacle(name, cacheDirectory);
    const isChosen =
      obstacle === null && candidates.includes(name) && !statuses.some((status) => status.isChosen);
    const installation = await installationStatus(name, cacheDirectory, verify);
    statuses.push({ name, isAvailable: obstacle === null, isChosen, obstacle, installation });
  }
  return statuses;
}

async function installationStatus(
  name: BackendName,
  cacheDirectory: string,
  verify: boolean,
): Promise<InstallationStatus | null> {
  if (name !== 'tensorflow' && name !== 'tensorflow-cuda') return null;
  const installation = await findInstallation(cacheDirectory, name === 'tensorflow' ? 'cpu' : 'cuda');
  if (installation === null) return null;
  return {
    directory: installation.directory,
    tensorflowVersion: installation.manifest.tensorflowVersion,
    sizeBytes: installation.sizeBytes,
    damage: verify ? await findDamage(installation) : null,
  };
}
