import { open, type FileHandle } from 'node:fs/promises';

const WINDOW_BYTES = 1024 * 1024;

/** Writes all the bytes at a position. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  let numWritten = 0;
  while (numWritten < bytes.length) {
    const rest = bytes.length - numWritten;
    numWritten += (await file.write(bytes, numWritten, rest, at + numWritten)).bytesWritten;
  }
}

/** Makes the names in a directory durable; Windows can't, and needs not. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Reads a file in large parts; what it returns is valid until the next reading. */
export class FileWindow {
  private bytes: Buffer = Buffer.alloc(0);
  private startAt = 0;

  constructor(
    private readonly file: FileHandle,
    private readonly fileBytes: number,
  ) {}

  /** @returns null when the file has become shorter */
  async read(at: number, length: number): Promise<Buffer | null> {
    if (at < this.startAt || at + length > this.startAt + this.bytes.length) {
      const wanted = Math.min(Math.max(length, WINDOW_BYTES), this.fileBytes - at);
      this.bytes = await bytesAt(this.file, at, wanted);
      this.startAt = at;
    }
    const from = at - this.startAt;
    return from + length > this.bytes.length ? null : this.bytes.subarray(from, from + length);
  }
}

/** The bytes at a position, fewer at the end of the file. */
async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let numRead = 0;
  while (numRead < length) {
    const { bytesRead } = await file.read(bytes, numRead, length - numRead, at + numRead);
    if (bytesRead === 0) break;
    numRead += bytesRead;
  }
  return bytes.subarray(0, numRead);
}
