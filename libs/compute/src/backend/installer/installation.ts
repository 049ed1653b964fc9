import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { addonVersion } from './build/addon-sources.js';
import type { TensorflowVersion } from './wheels/tensorflow-version.js';
import { TENSORFLOW_VERSIONS } from './wheels/tensorflow-version.js';

/** `cuda` runs on NVIDIA GPUs and on processors, `cpu` on processors only. */
export type Variant = 'cpu' | 'cuda';

/** One of the installations that lie side by side. */
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

/** Written last into an installation; a directory without it is not one. */
export const MANIFEST_FILE = 'installation.json';
/** Two levels below the installation: the addon's RUNPATH is `$ORIGIN/../../deps/lib`. */
export const BINDING_FILE = 'lib/napi-v8/tfjs_binding.node';
export const LIBRARY_DIRECTORY = 'deps/lib';
/** Headers of TensorFlow's C API, kept for what is compiled against the installation later. */
export const INCLUDE_DIRECTORY = 'deps/include';
/** Raised when an installation holds something that older ones lack. */
export const LAYOUT_VERSION = 2;

/** `$XDG_CACHE_HOME/retrace`, or `~/.cache/retrace`. */
export function defaultCacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'retrace');
}

/** `linux-x64`: what a binary depends on besides its versions. */
export function platformName(): string {
  return `${process.platform}-${process.arch}`;
}

/** Where a build lies; it changes with every version that it depends on. */
export function installationDirectory(cacheDirectory: string, { version, variant }: TensorflowBuild): string {
  const name = `${installationPrefix(version)}${variant}-${platformName()}-tfjs-${addonVersion()}`;
  return join(cacheDirectory, 'backends', name);
}

/** What the directories of all builds of a version begin with. */
export function installationPrefix(version: TensorflowVersion): string {
  return `tensorflow-${version}-`;
}

/**
 * The finished installation of a build, or null. Each file must be there with its recorded size; contents are
 * compared by `findDamage`, which reads everything.
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

/** Compares every file with its recorded checksum: a sentence on the first that differs, null if all are whole. */
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
