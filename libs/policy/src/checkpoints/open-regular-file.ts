import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/**
 * Opens a file to read it; null where the path names something else. It never waits: a FIFO would until it had a writer, and a device may
 * have no end.
 *
 * @throws what the file system throws
 */
export async function openRegularFile(path: string): Promise<FileHandle | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENXIO') return null; // a socket
      throw error;
    },
  );
  if (file === null || (await file.stat()).isFile()) return file;
  await file.close();
  return null;
}
