import { mkdir, mkdtemp, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ComputeError } from '../compute-error.js';
import { addonVersion } from './build/addon-sources.js';
import type { BuildSteps } from './build/build-steps.js';
import { buildStepsFor } from './build/build-steps.js';
import type { BuildTools } from './build/build-tools.js';
import { withInstallLock } from './install-lock.js';
import type {
  Installation,
  InstallationManifest,
  InstalledFile,
  TensorflowBuild,
  Variant,
} from './installation.js';
import {
  defaultCacheDirectory,
  findInstallation,
  INCLUDE_DIRECTORY,
  installationDirectory,
  LAYOUT_VERSION,
  MANIFEST_FILE,
  platformName,
  sha256OfFile,
} from './installation.js';
import type { OnInstallProgress } from './progress.js';
import { ProgressScale } from './progress.js';
import type { TensorflowVersion } from './wheels/tensorflow-version.js';
import { chosenTensorflowVersion } from './wheels/tensorflow-version.js';

export interface InstallOptions {
  /** Build for NVIDIA GPUs (CUDA 12): about 3.4 GB of downloads instead of some 260 MB. */
  readonly cuda?: boolean;
  /** By default the one that RETRACE_TENSORFLOW names, or `defaultTensorflowVersion`. Other versions stay installed. */
  readonly version?: TensorflowVersion;
  readonly cacheDirectory?: string;
  readonly onProgress?: OnInstallProgress;
  readonly signal?: AbortSignal;
  /** Where the tools are looked for; by default the environment of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Most that an installation occupies while it is built. */
const NEEDED_BYTES: Readonly<Record<Variant, number>> = { cpu: 2e9, cuda: 12e9 };
const ASIDE = '.building-';

/**
 * Installs TensorFlow and the addon built against it into the cache directory, or finds that it is installed.
 *
 * It is built aside and renamed when it has computed: an installation is there whole or not at all. Of several
 * processes one installs and the others wait for it. A download that is complete outlives a failure after it.
 * Retrace's own ops are compiled last, and again when their sources have changed; their failure is only reported.
 *
 * @throws ComputeError `BACKEND_NOT_INSTALLABLE` (the platform, a tool or disk space is missing) or
 *   `BACKEND_INSTALL_FAILED` (download, compiler or first computation), each in one sentence; `BACKEND_UNAVAILABLE` where
 *   RETRACE_TENSORFLOW names no version that is pinned.
 */
export async function installBackend(options: InstallOptions = {}): Promise<Installation> {
  const wanted: TensorflowBuild = {
    version: options.version ?? chosenTensorflowVersion(options.environment),
    variant: options.cuda === true ? 'cuda' : 'cpu',
  };
  const steps = buildStepsFor(wanted);
  if (steps === null) {
    const name = `TensorFlow ${wanted.version} (${wanted.variant})`;
    throw notInstallable(`${name} is not pinned for ${platformName()}`);
  }
  return installWith(steps, wanted, options);
}

/** `installBackend` with steps of the caller's. */
export async function installWith(
  steps: BuildSteps,
  wanted: TensorflowBuild,
  { cacheDirectory = defaultCacheDirectory(), onProgress, signal, environment }: InstallOptions = {},
): Promise<Installation> {
  const scale = new ProgressScale(onProgress ?? (() => undefined));
  const installed = await findInstallation(cacheDirectory, wanted);
  if (installed !== null && steps.hasOps(installed.directory)) return finish(installed, scale);

  scale.report('checking', 0, 'looking for python3, pip, a C++ compiler and the headers of Node');
  const tools = await steps.findTools(environment);
  const backends = join(cacheDirectory, 'backends');
  await mkdir(backends, { recursive: true }).catch((error: unknown) => {
    throw notInstallable(`the cache directory can't be made (${(error as Error).message})`);
  });
  await requireSpace(backends, wanted.variant);
  const onWait = (pid: number): void => {
    scale.report('waiting', 0, `another process (${pid}) is installing`);
  };
  return withInstallLock(join(backends, 'install.lock'), { signal, onWait }, async () => {
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
    onFraction: (fraction, message) => {
      scale.report('downloading', fraction, message);
    },
  });
  const directory = await mkdtemp(join(backends, ASIDE));
  try {
    await steps.unpack({
      downloads,
      directory,
      onFraction: (fraction, message) => {
        scale.report('unpacking', fraction, message);
      },
    });
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

/** A failure is reported and no more: everything computes without these ops, only slower. */
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
    // Compilers read headers; nothing that runs does.
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

/** What builders left that were killed: under the lock nobody else builds. */
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
