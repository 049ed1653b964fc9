import { open, stat } from 'node:fs/promises';
import { CliError } from '../../cli-error.js';
import type { ImportOptions } from './import-options.js';

/** An Arrow stream, which a run file is, begins with these bytes. */
const ARROW_STREAM = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/**
 * Imports a run file as it is, and everything else as a recorded run.
 *
 * @throws CliError `FILE_NOT_FOUND`, `NOT_A_FILE`, and what the two kinds of import throw
 */
export async function importPath(path: string, options: ImportOptions): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) throw new CliError('FILE_NOT_FOUND', `"${path}" not found; name a file or a directory`);
  if (!stats.isFile() && !stats.isDirectory()) {
    throw new CliError('NOT_A_FILE', `"${path}" is a FIFO or a device; name a file or a directory`);
  }
  const isRunFile = options.format === 'run-file' || (stats.isFile() && (await looksLikeRunFile(path)));
  if (isRunFile && (options.format ?? 'run-file') === 'run-file') {
    return (await import('./import-run.js')).importRunFromFile(path, options);
  }
  return (await import('./import-dumps.js')).importDumps(path, options);
}

async function looksLikeRunFile(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(ARROW_STREAM.length), 0, ARROW_STREAM.length, 0);
    return buffer.equals(ARROW_STREAM);
  } finally {
    await file.close();
  }
}
