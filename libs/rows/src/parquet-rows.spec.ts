import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, it } from 'vitest';
import { readParquetRows } from './parquet-rows.js';
import { isBroken, type RowRead } from './row.js';

const directory = mkdtempSync(join(tmpdir(), 'retrace-parquet-'));
const NUM_ROWS = 30;

/** Writes rows in row groups of ten. */
function writeParquet(name: string): string {
  const ids = Array.from({ length: NUM_ROWS }, (_, i) => `item_${i}`);
  const path = join(directory, name);
  const columnData = [
    { name: 'item_id', data: ids, type: 'STRING' as const },
    { name: 'big', data: ids.map((_, i) => BigInt(i)), type: 'INT64' as const },
    { name: 'score', data: ids.map((_, i) => (i === 0 ? NaN : i / 2)), type: 'DOUBLE' as const },
    {
      name: 'turns',
      data: ids.map((_, i) => [{ from: 'human', value: `turn ${i}` }]),
      type: 'JSON' as const,
    },
  ];
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 10 })));
  return path;
}

async function read(path: string, columns: readonly string[] | null = null): Promise<RowRead[]> {
  const rows: RowRead[] = [];
  for await (const row of readParquetRows(path, columns)) rows.push(row);
  return rows;
}

afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe('rows of a Parquet file', () => {
  it('are JSON values: 64-bit integers as numbers, NaN as missing', async () => {
    const rows = await read(writeParquet('whole.parquet'));
    expect(rows).toHaveLength(NUM_ROWS);
    expect(rows[0]).toEqual({
      number: 1,
      value: { item_id: 'item_0', big: 0, score: null, turns: [{ from: 'human', value: 'turn 0' }] },
    });
  });

  it('are broken where one is longer than a row may be, and the others are read', async () => {
    const path = join(directory, 'long.parquet');
    const texts = ['a', 'x'.repeat(33 * 1024 * 1024), 'b'];
    writeFileSync(
      path,
      Buffer.from(parquetWriteBuffer({ columnData: [{ name: 't', data: texts, type: 'STRING' }] })),
    );
    const rows = await read(path);
    expect(rows).toMatchObject([
      { value: { t: 'a' } },
      { number: 2, code: 'TOO_LARGE' },
      { value: { t: 'b' } },
    ]);
  });

  it('are decoded a few at a time where they are long', async () => {
    const path = join(directory, 'group.parquet');
    const texts = Array.from({ length: 64 }, (_, i) => `${i} ${'x'.repeat(1024 * 1024)}`);
    const columnData = [{ name: 't', data: texts, type: 'STRING' as const }];
    writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 64 })));
    const rows = await read(path);
    expect(rows.map((row) => (isBroken(row) ? row : (row.value as { t: string }).t.split(' ')[0]))).toEqual(
      texts.map((_, i) => `${i}`),
    );
  });

  it('of a row group with more values than memory holds are one broken row', async () => {
    // Three columns of ten, and the two of a turn.
    const rows: RowRead[] = [];
    for await (const row of readParquetRows(writeParquet('values.parquet'), null, { maxGroupValues: 20 }))
      rows.push(row);
    expect(rows.map((row) => (isBroken(row) ? [row.number, row.code] : row))).toEqual([
      [1, 'TOO_LARGE'],
      [11, 'TOO_LARGE'],
      [21, 'TOO_LARGE'],
    ]);
  });

  it('have only the columns that are asked for and exist', async () => {
    const [row] = await read(writeParquet('columns.parquet'), ['item_id', 'absent']);
    expect(row).toEqual({ number: 1, value: { item_id: 'item_0' } });
  });

  it('of a damaged row group are one broken row, and the other groups are read', async () => {
    const path = writeParquet('damaged.parquet');
    const bytes = readFileSync(path);
    const { row_groups: groups } = parquetMetadata(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    );
    const { data_page_offset: offset, total_compressed_size: size } = groups[1].columns[0].meta_data!;
    bytes.fill(0xff, Number(offset), Number(offset) + Number(size));
    writeFileSync(path, bytes);
    const rows = await read(path);
    expect(rows.filter(isBroken)).toMatchObject([{ number: 11, code: 'UNREADABLE' }]);
    expect(rows.filter((row) => !isBroken(row)).map(({ number }) => number)).toEqual(
      Array.from({ length: NUM_ROWS }, (_, i) => i + 1).filter((number) => number <= 10 || number > 20),
    );
  });

  it('of a file that was cut off are unreadable, which is said', async () => {
    const path = writeParquet('cut.parquet');
    writeFileSync(path, readFileSync(path).subarray(0, 500));
    expect(await read(path)).toMatchObject([{ number: 0, code: 'UNREADABLE' }]);
  });
});
