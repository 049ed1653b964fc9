import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, it } from 'vitest';
import { findRowLayout, isRowFileName, openBytes, openRows } from './open-rows.js';
import { RowFileError } from './packing.js';
import type { RowRead } from './row.js';

const directory = mkdtempSync(join(tmpdir(), 'retrace-open-rows-'));
const LINES = '{"a": 1}\n{"a": 2}\n';
const ROWS = [
  { number: 1, value: { a: 1 } },
  { number: 2, value: { a: 2 } },
];

async function read(name: string, bytes: Buffer): Promise<RowRead[]> {
  const path = join(directory, name);
  writeFileSync(path, bytes);
  const rows: RowRead[] = [];
  for await (const row of openRows(path, await findRowLayout(path), null)) rows.push(row);
  return rows;
}

afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe('compressed files', () => {
  it('are unpacked when they begin as gzip does, whatever they are called', async () => {
    const packed = zlib.gzipSync(LINES);
    expect(await read('a.jsonl.gz', packed)).toEqual(ROWS);
    expect(await read('b.jsonl', packed)).toEqual(ROWS);
  });

  it('of zstd are read where Node can, else refused with what to do', async () => {
    // A frame of one uncompressed block: magic, descriptor with a size of one byte, size, block header (size × 8 + 1), text.
    const size = LINES.length;
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, size, ((size << 3) | 1) & 0xff, size >> 5, 0]);
    const packed = Buffer.concat([frame, Buffer.from(LINES)]);
    const refusal = {
      number: 0,
      code: 'UNREADABLE',
      detail: 'the file is compressed with zstd; unpack it first',
    };
    const expected = 'createZstdDecompress' in zlib ? ROWS : [refusal];
    expect(await read('a.jsonl.zst', packed)).toEqual(expected);
    expect(await read('b.jsonl', packed)).toEqual(expected);
  });

  it('of other kinds, and compressed Parquet files, are refused with what to do', async () => {
    const detail = (name: string) => `the file is compressed with ${name}; unpack it first`;
    const xz = await read('a.jsonl', Buffer.from('fd377a585a000004', 'hex'));
    expect(xz).toEqual([{ number: 0, code: 'UNREADABLE', detail: detail('xz') }]);
    expect(await read('a.parquet.gz', zlib.gzipSync('PAR1'))).toEqual([
      { number: 0, code: 'UNREADABLE', detail: detail('gzip') },
    ]);
  });

  it('are found in a directory', () => {
    const names = ['a.jsonl', 'b.JSON.gz', 'c.parquet', 'd.jsonl.zst', 'e.txt', 'f.zst', 'g.txt.gz'];
    expect(names.filter(isRowFileName)).toEqual(['a.jsonl', 'b.JSON.gz', 'c.parquet', 'd.jsonl.zst']);
  });
});

describe('damaged files', () => {
  it('of gzip say so, whether cut off or with a wrong start', async () => {
    const packed = zlib.gzipSync(LINES.repeat(100));
    const damaged = {
      number: 0,
      code: 'CUT',
      detail: expect.stringMatching(/is damaged or cut off: /) as string,
    };
    expect((await read('cut.jsonl.gz', packed.subarray(0, packed.length - 4))).at(-1)).toEqual(damaged);
    expect(await read('start.jsonl.gz', Buffer.concat([Buffer.alloc(12), packed]))).toEqual([damaged]);
  });

  it('of Parquet say so', async () => {
    const columnData = [{ name: 'a', data: [1, 2], type: 'INT32' as const }];
    const bytes = Buffer.from(parquetWriteBuffer({ columnData }));
    const detail = expect.stringMatching(/^the Parquet file is damaged or cut off: /) as string;
    expect(await read('cut.data', bytes.subarray(0, bytes.length - 6))).toEqual([
      { number: 0, code: 'UNREADABLE', detail },
    ]);
  });
});

describe('a FIFO', () => {
  it('is refused and not waited for', async () => {
    const path = join(directory, 'fifo.jsonl');
    execFileSync('mkfifo', [path]);
    await expect(findRowLayout(path)).rejects.toThrow(RowFileError);
    await expect(openBytes(path, { asStored: true })[Symbol.asyncIterator]().next()).rejects.toThrow(
      `"${path}" is a FIFO, a device or a directory; only files can be read`,
    );
    await expect(findRowLayout('/dev/null')).rejects.toThrow(RowFileError);
  });
});
