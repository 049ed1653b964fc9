import type { BackendName } from './backend.js';
import { ORDER_OF_CHOICE } from './backend.js';
import { defaultCacheDirectory, findDamage, findInstallations } from './installer/installation.js';
import type { TensorflowVersion } from './installer/wheels/tensorflow-version.js';
import { chosenTensorflowVersion } from './installer/wheels/tensorflow-version.js';
import { backendObstacle, backendsOf } from './open-backend.js';

export interface BackendStatus {
  readonly name: BackendName;
  /** Whether `openBackend` would try it. */
  readonly isAvailable: boolean;
  /** The first available one in the order of choice, or the one that RETRACE_BACKEND names. */
  readonly isChosen: boolean;
  /** Why it is not available, or null. */
  readonly obstacle: string | null;
  /** What `installBackend` installed for it, the newest version first, whether or not it can run now. */
  readonly installations: readonly InstallationStatus[];
}

export interface InstallationStatus {
  readonly directory: string;
  readonly tensorflowVersion: string;
  /** Whether this is the version that is opened: the one that RETRACE_TENSORFLOW names, or the default. */
  readonly isSelected: boolean;
  readonly sizeBytes: number;
  /** What differs from what was installed; null if nothing does, or it was not verified. */
  readonly damage: string | null;
}

export interface ListBackendsOptions {
  readonly cacheDirectory?: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Compare the checksum of every installed file: reads some 600 MB a version. */
  readonly verify?: boolean;
}

/**
 * What each backend of the order of choice would do here. Loads none of them.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` where RETRACE_BACKEND or RETRACE_TENSORFLOW names none that there is.
 */
export async function listBackends({
  environment = process.env,
  cacheDirectory = defaultCacheDirectory(environment),
  verify = false,
}: ListBackendsOptions = {}): Promise<readonly BackendStatus[]> {
  const statuses: BackendStatus[] = [];
  const candidates = backendsOf(environment);
  const version = chosenTensorflowVersion(environment);
  for (const name of ORDER_OF_CHOICE) {
    const obstacle = await backendObstacle(name, { cacheDirectory, version });
    const isChosen =
      obstacle === null && candidates.includes(name) && !statuses.some((status) => status.isChosen);
    const installations = await installationsOf(name, { cacheDirectory, version, verify });
    statuses.push({ name, isAvailable: obstacle === null, isChosen, obstacle, installations });
  }
  return statuses;
}

interface InstallationQuery {
  readonly cacheDirectory: string;
  readonly version: TensorflowVersion;
  readonly verify: boolean;
}

async function installationsOf(
  name: BackendName,
  { cacheDirectory, version, verify }: InstallationQuery,
): Promise<InstallationStatus[]> {
  if (name !== 'tensorflow' && name !== 'tensorflow-cuda') return [];
  const statuses: InstallationStatus[] = [];
  for (const installation of await findInstallations(
    cacheDirectory,
    name === 'tensorflow' ? 'cpu' : 'cuda',
  )) {
    const { directory, sizeBytes, manifest } = installation;
    statuses.push({
      directory,
      tensorflowVersion: manifest.tensorflowVersion,
      isSelected: manifest.tensorflowVersion === version,
      sizeBytes,
      damage: verify ? await findDamage(installation) : null,
    });
  }
  return statuses;
}
