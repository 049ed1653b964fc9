import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@retrace/trajectory';

const BUFFER_BYTES = 1024 * 1024;

/**
 * Rows by number, on disk: only their places are in memory, 8 bytes a row. The file has no name any more once it is open, so it
 * disappears with the process however that ends.
 */
export class RowStore {
  private readonly file: number;
  /** Where each row ends, in bytes. */
  private readonly ends: number[] = [];
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private sizeBytes = 0;

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-tasks-'));
    this.file = openSync(join(directory, 'rows'), 'w+');
    rmSync(directory, { recursive: true });
  }

  get numRows(): number {
    return this.ends.length;
  }

  /** @param json the row as JSON */
  add(json: Buffer): void {
    this.pending.push(json);
    this.pendingBytes += json.length;
    this.sizeBytes += json.length;
    this.ends.push(this.sizeBytes);
    if (this.pendingBytes >= BUFFER_BYTES) this.flush();
  }

  at(row: number): Json {
    if (this.pendingBytes > 0) this.flush();
    const start = row === 0 ? 0 : this.ends[row - 1];
    const bytes = Buffer.alloc(this.ends[row] - start);
    for (let read = 0; read < bytes.length;) {
      read += readSync(this.file, bytes, read, bytes.length - read, start + read);
    }
    return JSON.parse(bytes.toString('utf8')) as Json;
  }

  close(): void {
    closeSync(this.file);
  }

  private flush(): void {
    const bytes = Buffer.concat(this.pending);
    for (let written = 0; written < bytes.length;) written += writeSync(this.file, bytes, written);
    this.pending = [];
    this.pendingBytes = 0;
  }
}
