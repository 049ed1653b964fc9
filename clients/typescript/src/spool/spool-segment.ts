import { open, rm, type FileHandle } from 'node:fs/promises';

const SCAN_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** One file of lines: appended at its end, read from its beginning, and removed once all its lines were taken. */
export class SpoolSegment {
  numLines = 0;
  sizeBytes = 0;
  /** Where the first line begins that was not taken. */
  headAt = 0;

  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
  ) {}

  static async create(path: string): Promise<SpoolSegment> {
    return new SpoolSegment(path, await open(path, 'ax+', 0o600));
  }

  /** Opens a file of a process that has ended. What follows its last newline was not written wholly, and is cut off. */
  static async recover(path: string): Promise<SpoolSegment> {
    const segment = new SpoolSegment(path, await open(path, 'a+'));
    try {
      await segment.countLines();
    } catch (error) {
      await segment.file.close();
      throw error;
    }
    return segment;
  }

  get pendingBytes(): number {
    return this.sizeBytes - this.headAt;
  }

  /** When it rejects, none of the lines is in the file. */
  async append(lines: readonly string[], fsync: boolean): Promise<void> {
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    try {
      await this.file.appendFile(bytes);
      if (fsync) await this.file.datasync();
    } catch (error) {
      await this.file.truncate(this.sizeBytes).catch(() => undefined);
      throw error;
    }
    this.sizeBytes += bytes.length;
    this.numLines += lines.length;
  }

  /** The oldest lines: at least one, if there is any. */
  async read(maxLines: number, maxBytes: number): Promise<string[]> {
    for (let length = maxBytes; ; length *= 2) {
      const bytes = await this.bytesAt(this.headAt, Math.min(length, this.pendingBytes));
      const end = bytes.lastIndexOf(NEWLINE);
      const most = length === maxBytes ? maxLines : 1;
      if (end >= 0) return bytes.toString('utf8', 0, end).split('\n').slice(0, most);
      if (length >= this.pendingBytes) return [];
    }
  }

  take(lines: readonly string[]): void {
    for (const line of lines) this.headAt += Buffer.byteLength(line) + 1;
    this.numLines -= lines.length;
  }

  /** Empties the file, whose lines were all taken, so that they are not sent again by the next process. */
  async clear(): Promise<void> {
    await this.file.truncate(0);
    this.sizeBytes = 0;
    this.headAt = 0;
  }

  async remove(): Promise<void> {
    await this.file.close();
    await rm(this.path, { force: true });
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async countLines(): Promise<void> {
    const { size } = await this.file.stat();
    for (let at = 0; at < size;) {
      const bytes = await this.bytesAt(at, Math.min(SCAN_BYTES, size - at));
      for (let i = bytes.indexOf(NEWLINE); i >= 0; i = bytes.indexOf(NEWLINE, i + 1)) {
        this.numLines++;
        this.sizeBytes = at + i + 1;
      }
      at += bytes.length;
    }
    if (this.sizeBytes < size) await this.file.truncate(this.sizeBytes);
  }

  private async bytesAt(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let numRead = 0;
    while (numRead < length) {
      const { bytesRead } = await this.file.read(bytes, numRead, length - numRead, position + numRead);
      if (bytesRead === 0) throw new Error(`${this.path} became shorter while it was read`);
      numRead += bytesRead;
    }
    return bytes;
  }
}
