import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { extract } from 'tar';
import { ComputeError } from '../../compute-error.js';
import { type DownloadPackage, downloadPackage } from './download-package.js';
import { withInstallLock } from '../install-lock.js';
import { readComputeEnvironment } from '../../compute-environment.js';
import type { InstallControls } from '../install-backend.js';
import { platformName } from '../installation.js';
import { ProgressScale } from '../progress.js';
import { lastLine, runCommand } from '../run-command.js';
import {
  DAWN,
  DAWN_BINARY_FOLDER,
  findWebGpu,
  KERNELS_FILE,
  type PackagePin,
  WEBGPU_KERNELS,
  webgpuDirectory,
  webgpuFiles,
  type WebGpuInstallation,
} from './webgpu-installation.js';

export interface InstallWebGpuOptions extends InstallControls {
  readonly cacheDirectory?: string;
}

/**
 * Installs Dawn, and the kernels of TensorFlow.js for it, into the cache directory, unless they are installed. They are
 * unpacked elsewhere and renamed after Dawn was loaded, so an installation is complete or does not exist.
 *
 * @throws ComputeError `BACKEND_NOT_INSTALLABLE` (Dawn has no binary for the platform) or `BACKEND_INSTALL_FAILED`
 *   (the download, or Dawn does not load), each in one sentence.
 */
export function installWebGpu(options: InstallWebGpuOptions = {}): Promise<WebGpuInstallation> {
  return installWebGpuWith({ download: downloadPackage, test: testDawn }, options);
}

export interface WebGpuSteps {
  readonly download: DownloadPackage;
  /** Loads the unpacked packages, in a process of its own. */
  readonly test: (installation: WebGpuInstallation) => Promise<void>;
}

/** Runs the given steps as `installWebGpu` does. */
export async function installWebGpuWith(
  { download, test }: WebGpuSteps,
  { cacheDirectory = readComputeEnvironment().cacheDirectory, onProgress, signal }: InstallWebGpuOptions = {},
): Promise<WebGpuInstallation> {
  const scale = new ProgressScale(onProgress);
  const backends = join(cacheDirectory, 'backends');
  await mkdir(backends, { recursive: true });
  return withInstallLock(join(backends, 'install.lock'), { signal, onWait: scale.waitFor }, async () => {
    if (findWebGpu(cacheDirectory) === null) {
      const aside = await mkdtemp(join(backends, '.building-'));
      try {
        scale.report('downloading', 0, `Dawn ${DAWN.version} and its kernels, 54 MB`);
        const dawn = await download(DAWN, aside, signal);
        const kernels = await download(WEBGPU_KERNELS, aside, signal);
        const directory = join(aside, 'installation');
        scale.report('unpacking', 0, `Dawn for ${platformName()}`);
        await unpack(dawn, join(directory, 'dawn'), ['index.js', `${DAWN_BINARY_FOLDER}/`]);
        await unpack(kernels, join(directory, 'kernels'), [KERNELS_FILE]);
        requireBinary(directory, DAWN);
        scale.report('testing', 0, 'Dawn in a process of its own');
        await test(webgpuFiles(directory));
        await rename(directory, webgpuDirectory(cacheDirectory));
      } finally {
        await rm(aside, { recursive: true, force: true });
      }
    }
    scale.report('installed', 1, `WebGPU (Dawn ${DAWN.version})`);
    return webgpuFiles(webgpuDirectory(cacheDirectory));
  });
}

/** Extracts a package's description and the wanted files from its archive; the name of a folder ends in `/`. */
async function unpack(archive: string, directory: string, wanted: readonly string[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  await extract({
    file: archive,
    cwd: directory,
    strip: 1,
    filter: (path) => {
      const inside = path.replace(/^package\//, '');
      return ['package.json', ...wanted].some((name) =>
        name.endsWith('/') ? inside.startsWith(name) : inside === name,
      );
    },
  });
}

function requireBinary(directory: string, { name, version }: PackagePin): void {
  if (existsSync(join(directory, 'dawn', DAWN_BINARY_FOLDER))) return;
  throw new ComputeError(
    'BACKEND_NOT_INSTALLABLE',
    `WebGPU can't be installed: ${name} ${version} has no binary for ${platformName()}.`,
  );
}

async function testDawn({ dawnPath }: WebGpuInstallation): Promise<void> {
  const program = `const { create } = await import(${JSON.stringify(pathToFileURL(dawnPath).href)}); create([]);`;
  const result = await runCommand(process.execPath, ['--input-type=module', '-e', program], {
    timeoutMs: 60_000,
  });
  if (result.exitCode === 0) return;
  throw new ComputeError(
    'BACKEND_INSTALL_FAILED',
    `Dawn does not load on this machine: ${lastLine(result)}.`,
  );
}
