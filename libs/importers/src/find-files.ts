import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { isRowFileName } from '@retrace/rows';
import type { ImportFile } from './import-rows.js';

/**
 * Finds what a path names: the file itself, whatever it is called; or all files of a directory and those in it whose names end like data,
 * in the order of their names, numbers by value.
 *
 * @throws NodeJS.ErrnoException when the path does not exist
 */
export async function findImportFiles(path: string): Promise<readonly ImportFile[]> {
  if (!(await stat(path)).isDirectory()) return [{ path, name: basename(path) }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && isRowFileName(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file, name: relative(path, file) }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}
