import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseJson } from '@retrace/rows';
import type { DatasetRow } from '../formats/dataset-format.js';

const FLUSH_CHARACTERS = 1 << 20;

/** A file of JSON lines under construction. */
export class JsonlFile {
  numRows = 0;
  private readonly digest: Hash = createHash('sha256');
  private waiting: string[] = [];
  private numWaiting = 0;

  private constructor(private readonly file: FileHandle) {}

  static async create(path: string): Promise<JsonlFile> {
    return new JsonlFile(await open(path, 'wx'));
  }

  async write(line: string): Promise<void> {
    this.waiting.push(line);
    this.numRows += 1;
    this.numWaiting += line.length;
    if (this.numWaiting >= FLUSH_CHARACTERS) await this.flush();
  }

  /** Makes the file durable, and returns the SHA-256 of its content, in hex. */
  async finish(): Promise<string> {
    await this.flush();
    await this.file.sync();
    await this.file.close();
    return this.digest.digest('hex');
  }

  async abort(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  private async flush(): Promise<void> {
    if (this.waiting.length === 0) return;
    const bytes = Buffer.from(`${this.waiting.join('\n')}\n`);
    this.waiting = [];
    this.numWaiting = 0;
    this.digest.update(bytes);
    await this.file.writeFile(bytes);
  }
}

/** Reads the rows of a file of JSON lines, in order. */
export async function* readJsonl(path: string): AsyncGenerator<DatasetRow> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  for await (const line of lines) yield parseJson(line) as DatasetRow;
}
