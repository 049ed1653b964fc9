import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { addonVersion } from './build/addon-sources.js';
import type { TensorflowVersion } from './wheels/tensorflow-version.js';
import { TENSORFLOW_VERSIONS } from './wheels/tensorflow-version.js';

/** `cuda` runs on NVIDIA GPUs and on processors, `cpu` on processors only. */
export type Variant = 'cpu' | 'cuda';

/** A version and variant of TensorFlow; builds are installed side by side. */
export interface TensorflowBuild {
  readonly version: TensorflowVersion;
  readonly variant: Variant;
}

/** One file of an installation, as it was when the installation was finished. */
export interface InstalledFile {
  /** Relative to the installation's directory, with `/` between its parts. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface InstallationManifest {
  readonly layoutVersion: number;
  readonly tensorflowVersion: string;
  readonly addonVersion: string;
  readonly variant: Variant;
  readonly platform: string;
  readonly installedAt: string;
  readonly files: readonly InstalledFile[];
}

export interface Installation {
  readonly directory: string;
  readonly bindingPath: string;
  readonly sizeBytes: number;
  readonly manifest: InstallationManifest;
}

/** Written last: a directory without it is not an installation. */
export const MANIFEST_FILE = 'installation.json';
/** Two levels below the installation: the addon's RUNPATH is `$ORIGIN/../../deps/lib`. */
export const BINDING_FILE = 'lib/napi-v8/tfjs_binding.node';
export const LIBRARY_DIRECTORY = 'deps/lib';
/** Headers of TensorFlow's C API, kept because Retrace's own ops are compiled against them later. */
export const INCLUDE_DIRECTORY = 'deps/include';
/** Increased when an installation gets something that older ones lack. */
export const LAYOUT_VERSION = 2;

/** Names the platform that binaries are built for, such as `linux-x64`. */
export function platformName(): string {
  return `${process.platform}-${process.arch}`;
}

/** The directory of a build, whose name holds every version that it depends on. */
export function installationDirectory(cacheDirectory: string, { version, variant }: TensorflowBuild): string {
  const name = `${installationPrefix(version)}${variant}-${platformName()}-tfjs-${addonVersion()}`;
  return join(cacheDirectory, 'backends', name);
}

/** The start of the directory names of all builds of a version. */
export function installationPrefix(version: TensorflowVersion): string {
  return `tensorflow-${version}-`;
}

/**
 * The finished installation of a build, or null. Each file must exist with its recorded size; `findDamage` compares
 * contents, which reads everything.
 */
export async function findInstallation(
  cacheDirectory: string,
  build: TensorflowBuild,
): Promise<Installation | null> {
  const directory = installationDirectory(cacheDirectory, build);
  const manifest = await readManifest(directory);
  if (manifest?.layoutVersion !== LAYOUT_VERSION) return null;
  for (const file of manifest.files) {
    const stats = await lstat(join(directory, file.path)).catch(() => null);
    if (stats?.size !== file.sizeBytes) return null;
  }
  return {
    directory,
    bindingPath: join(directory, BINDING_FILE),
    sizeBytes: manifest.files.reduce((sum, file) => sum + file.sizeBytes, 0),
    manifest,
  };
}

/** The finished installations of a variant, the newest version first. */
export async function findInstallations(
  cacheDirectory: string,
  variant: Variant,
): Promise<readonly Installation[]> {
  const found = await Promise.all(
    TENSORFLOW_VERSIONS.map((version) => findInstallation(cacheDirectory, { version, variant })),
  );
  return found.filter((installation) => installation !== null);
}

/** Compares every file with its recorded checksum. Returns a sentence on the first that differs, or null. */
export async function findDamage({ directory, manifest }: Installation): Promise<string | null> {
  for (const file of manifest.files) {
    const sha256 = await sha256OfFile(join(directory, file.path)).catch(() => 'no readable file');
    if (sha256 !== file.sha256) return `${file.path} has checksum ${sha256}; installed was ${file.sha256}`;
  }
  return null;
}

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash);
  return hash.digest('hex');
}

async function readManifest(directory: string): Promise<InstallationManifest | null> {
  try {
    return JSON.parse(await readFile(join(directory, MANIFEST_FILE), 'utf8')) as InstallationManifest;
  } catch {
    return null;
  }
}
