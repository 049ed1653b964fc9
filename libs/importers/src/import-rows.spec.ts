import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { detectFileFormat, type Found, identifyFile, importRows } from './import-rows.js';
import { SAMPLE_ROWS } from './testing/sample-rows.js';

const directory = mkdtempSync(join(tmpdir(), 'retrace-import-rows-'));

afterAll(() => {
  rmSync(directory, { recursive: true });
});

async function identify(name: string, bytes: string | Buffer) {
  const path = join(directory, name);
  writeFileSync(path, bytes);
  return identifyFile({ path, name });
}

describe('detectFileFormat', () => {
  it('tells a file that cannot be read from one of no known format', async () => {
    const xz = await identify('a.jsonl.xz', Buffer.from('fd377a585a000004', 'hex'));
    const detail = 'the file is compressed with xz; unpack it first';
    expect(await detectFileFormat(xz)).toEqual({ kind: 'unreadable', detail });
    const cut = await identify('b.jsonl.gz', gzipSync('{"a": 1}\n').subarray(0, 12));
    expect(await detectFileFormat(cut)).toMatchObject({
      kind: 'unreadable',
      detail: expect.stringContaining('damaged') as string,
    });
    expect(await detectFileFormat(await identify('c.jsonl', 'a,b\n1,2\n'))).toMatchObject({
      kind: 'unreadable',
      detail: expect.stringMatching(/^row 1: /) as string,
    });
    expect(await detectFileFormat(await identify('d.jsonl', '{"a": 1}\n'))).toEqual({ kind: 'unknown' });
    expect(await detectFileFormat(await identify('e.jsonl', ''))).toEqual({ kind: 'unknown' });
  });
});

describe('importRows', () => {
  it('skips a file that cannot be read with the reason, and takes the others', async () => {
    const files = [
      await identify('1.jsonl.bz2', 'BZh91AY'),
      await identify('2.jsonl', SAMPLE_ROWS.sharegpt.map((row) => JSON.stringify(row)).join('\n')),
    ];
    const known = await detectFileFormat(files[1]);
    if (known.kind !== 'known') throw new Error('the format was not found');
    const found: Found[] = [];
    for await (const each of importRows(files, known.format)) found.push(each);
    const detail = 'the file is compressed with bzip2; unpack it first';
    expect(found).toMatchObject([
      { kind: 'skipped', file: '1.jsonl.bz2', skip: { code: 'UNREADABLE', detail, row: null } },
      { kind: 'episode', file: '2.jsonl', row: 1 },
    ]);
  });
});
