import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WeightFiles } from './weight-files.js';

/**
 * Computes a SHA-256 (hex) that tells one model directory from another without reading it whole: of its config, and of
 * every weight file's header, size, and first and last bytes of data.
 */
export async function modelFingerprint(directory: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(directory, 'config.json')));
  const files = await WeightFiles.open(directory);
  try {
    for (const sample of await files.samples()) hash.update(sample);
  } finally {
    await files.close();
  }
  return hash.digest('hex');
}
