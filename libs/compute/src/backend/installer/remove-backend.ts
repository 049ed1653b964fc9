import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readComputeEnvironment } from '../compute-environment.js';
import { installationPrefix } from './installation.js';
import type { TensorflowVersion } from './wheels/tensorflow-version.js';
import { WEBGPU_PREFIX } from './webgpu/webgpu-installation.js';

export interface RemoveBackendOptions {
  readonly cacheDirectory?: string;
  /** By default all versions, WebGPU, and downloads for them. */
  readonly version?: TensorflowVersion;
}

/**
 * Removes the installations of one version, or of all, in every variant. Returns the names of their directories.
 */
export async function removeBackend({
  cacheDirectory = readComputeEnvironment().cacheDirectory,
  version,
}: RemoveBackendOptions = {}): Promise<readonly string[]> {
  const backends = join(cacheDirectory, 'backends');
  const prefixes = version === undefined ? ['tensorflow-', WEBGPU_PREFIX] : [installationPrefix(version)];
  const names = await readdir(backends).catch((): string[] => []);
  const removed = names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix))).sort();
  if (version === undefined) {
    await rm(backends, { recursive: true, force: true });
    await rm(join(cacheDirectory, 'downloads'), { recursive: true, force: true });
  } else {
    for (const name of removed) await rm(join(backends, name), { recursive: true, force: true });
  }
  return removed;
}
