import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDirectory } from './installation.js';

/** Removes every installation, of all versions and variants, and what was downloaded for them. */
export async function removeBackend({ cacheDirectory = defaultCacheDirectory() } = {}): Promise<void> {
  await rm(join(cacheDirectory, 'backends'), { recursive: true, force: true });
  await rm(join(cacheDirectory, 'downloads'), { recursive: true, force: true });
}
