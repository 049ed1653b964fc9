import { mkdir, mkdtemp, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type ComputeEnvironment, readComputeEnvironment } from '../compute-environment.js';
import { ComputeError } from '../compute-error.js';
import { addonVersion } from './build/addon-sources.js';
import { type BuildSteps, buildStepsFor } from './build/build-steps.js';
import type { BuildTools } from './build/build-tools.js';
import { withInstallLock } from './install-lock.js';
import {
  findInstallation,
  INCLUDE_DIRECTORY,
  type Installation,
  installationDirectory,
  type InstallationManifest,
  type InstalledFile,
  LAYOUT_VERSION,
  MANIFEST_FILE,
  platformName,
  sha256OfFile,
  type TensorflowBuild,
  type Variant,
} from './installation.js';
import { type OnInstallProgress, ProgressScale } from './progress.js';
import type { TensorflowVersion } from './wheels/tensorflow-version.js';

export interface InstallControls {
  readonly onProgress?: OnInstallProgress;
  readonly signal?: AbortSignal;
}

export interface InstallBackendOptions extends InstallControls {
  /** Build for NVIDIA GPUs (CUDA 12): about 3.4 GB of downloads instead of about 260 MB. */
  readonly cuda?: boolean;
  /** By default that of the environment. Other versions stay installed. */
  readonly version?: TensorflowVersion;
  readonly environment?: ComputeEnvironment;
}

/** Disk space that an installation needs while it is built. */
const NEEDED_BYTES: Readonly<Record<Variant, number>> = { cpu: 2e9, cuda: 12e9 };
const ASIDE = '.building-';

/**
 * Installs TensorFlow, and the addon built against it, into the cache directory, unless they are installed.
 *
 * The build takes place in a directory of its own, which is renamed after a first computation, so an installation is
 * complete or does not exist. One of several processes installs, and the others wait for it. A complete download is kept
 * when a later step fails. Retrace's own ops are compiled last, and again when their sources have changed; their failure
 * is only reported.
 *
 * @throws ComputeError `BACKEND_NOT_INSTALLABLE` (the platform, a tool or disk space is missing) or
 *   `BACKEND_INSTALL_FAILED` (download, compiler or first computation), each in one sentence; `BACKEND_UNAVAILABLE` as
 *   `readComputeEnvironment` does
 */
export async function installBackend({
  cuda = false,
  environment = readComputeEnvironment(),
  version = environment.tensorflowVersion,
  ...controls
}: InstallBackendOptions = {}): Promise<Installation> {
  const wanted: TensorflowBuild = { version, variant: cuda ? 'cuda' : 'cpu' };
  const steps = buildStepsFor(wanted, environment);
  if (steps === null) {
    throw notInstallable(`TensorFlow ${version} (${wanted.variant}) is not pinned for ${platformName()}`);
  }
  return installWith(steps, wanted, { ...controls, cacheDirectory: environment.cacheDirectory });
}

/** Runs the given steps as `installBackend` does. */
export async function installWith(
  steps: BuildSteps,
  wanted: TensorflowBuild,
  { cacheDirectory, onProgress, signal }: InstallControls & { readonly cacheDirectory: string },
): Promise<Installation> {
  const scale = new ProgressScale(onProgress);
  const installed = await findInstallation(cacheDirectory, wanted);
  if (installed !== null && steps.hasOps(installed.directory)) return finish(installed, scale);

  scale.report('checking', 0, 'looking for python3, pip, a C++ compiler and the headers of Node');
  const tools = await steps.findTools();
  const backends = join(cacheDirectory, 'backends');
  await mkdir(backends, { recursive: true }).catch((error: unknown) => {
    throw notInstallable(`the cache directory can't be made (${(error as Error).message})`);
  });
  await requireSpace(backends, wanted.variant);
  return withInstallLock(join(backends, 'install.lock'), { signal, onWait: scale.waitFor }, async () => {
    const job = { wanted, tools, cacheDirectory, scale, signal };
    const installation = (await findInstallation(cacheDirectory, wanted)) ?? (await build(steps, job));
    if (!steps.hasOps(installation.directory)) await addOps(steps, installation, job);
    return finish(installation, scale);
  });
}

interface BuildJob {
  readonly wanted: TensorflowBuild;
  readonly tools: BuildTools;
  readonly cacheDirectory: string;
  readonly scale: ProgressScale;
  readonly signal: AbortSignal | undefined;
}

async function build(
  steps: BuildSteps,
  { wanted, tools, cacheDirectory, scale, signal }: BuildJob,
): Promise<Installation> {
  const backends = join(cacheDirectory, 'backends');
  const downloadDirectory = join(cacheDirectory, 'downloads');
  await removeLeftovers(backends);
  await mkdir(downloadDirectory, { recursive: true });
  const downloads = await steps.download({
    tools,
    directory: downloadDirectory,
    signal,
    onFraction: scale.during('downloading'),
  });
  const directory = await mkdtemp(join(backends, ASIDE));
  try {
    await steps.unpack({ downloads, directory, onFraction: scale.during('unpacking') });
    scale.report('compiling', 0, 'the addon that joins Node and TensorFlow');
    await steps.compile({ tools, directory, signal });
    scale.report('testing', 0, 'a first computation in a process of its own');
    await steps.test(directory);
    await writeManifest(directory, wanted);
    const target = installationDirectory(cacheDirectory, wanted);
    await rm(target, { recursive: true, force: true });
    await rename(directory, target);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const installation = await findInstallation(cacheDirectory, wanted);
  if (installation === null)
    throw new ComputeError('BACKEND_INSTALL_FAILED', 'The finished installation was removed.');
  await rm(downloadDirectory, { recursive: true, force: true });
  return installation;
}

/** Compiles Retrace's own ops. A failure is only reported, because everything computes without them, more slowly. */
async function addOps(steps: BuildSteps, { directory }: Installation, job: BuildJob): Promise<void> {
  const { tools, scale, signal } = job;
  scale.report('compiling', 0.5, "Retrace's own ops");
  try {
    await steps.compileOps({ tools, directory, signal });
  } catch (error) {
    if (!(error instanceof ComputeError)) throw error;
    scale.report('compiling', 1, error.message);
  }
}

function finish(installation: Installation, scale: ProgressScale): Installation {
  const { tensorflowVersion, variant } = installation.manifest;
  scale.report('installed', 1, `TensorFlow ${tensorflowVersion} (${variant})`);
  return installation;
}

async function writeManifest(directory: string, { version, variant }: TensorflowBuild): Promise<void> {
  const files: InstalledFile[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const absolute = join(entry.parentPath, entry.name);
    const path = relative(directory, absolute).split(sep).join('/');
    // Headers are read by compilers only.
    if (path.startsWith(`${INCLUDE_DIRECTORY}/`)) continue;
    files.push({
      path,
      sizeBytes: (await stat(absolute)).size,
      sha256: await sha256OfFile(absolute),
    });
  }
  const manifest: InstallationManifest = {
    layoutVersion: LAYOUT_VERSION,
    tensorflowVersion: version,
    addonVersion: addonVersion(),
    variant,
    platform: platformName(),
    installedAt: new Date().toISOString(),
    files,
  };
  await writeFile(join(directory, MANIFEST_FILE), JSON.stringify(manifest, null, 2));
}

/** Removes the directories of builds that were killed; nobody else builds under the lock. */
async function removeLeftovers(backends: string): Promise<void> {
  for (const name of await readdir(backends)) {
    if (name.startsWith(ASIDE)) await rm(join(backends, name), { recursive: true, force: true });
  }
}

async function requireSpace(directory: string, variant: Variant): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < NEEDED_BYTES[variant]) {
    throw notInstallable(
      `it needs ${NEEDED_BYTES[variant] / 1e9} GB of disk space and ${(free / 1e9).toFixed(1)} GB are free`,
    );
  }
}

function notInstallable(why: string): ComputeError {
  return new ComputeError('BACKEND_NOT_INSTALLABLE', `The fast backend can't be installed: ${why}.`);
}
