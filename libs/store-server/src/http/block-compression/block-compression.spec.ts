import { request as httpRequest } from 'node:http';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStoreBench, FULL_USER, StoreProcess } from '../../testing/store-process.js';
import { BlockCompressor } from './block-compressor.js';
import { BlockDecompressor } from './block-decompressor.js';

const NUM_NUMBERS = 200_000;
const numbers = Buffer.from(BigUint64Array.from({ length: NUM_NUMBERS }, (_, i) => BigInt(i)).buffer);

/** The bytes in pieces of a length that no block has. */
function pieces(bytes: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  );
}

async function decoded(blocks: Buffer, pieceBytes = blocks.length): Promise<Buffer> {
  const decompressor = new BlockDecompressor();
  const [bytes] = await Promise.all([
    buffer(decompressor),
    pipeline(Readable.from(pieces(blocks, pieceBytes)), decompressor),
  ]);
  return bytes;
}

async function encoded(bytes: Buffer): Promise<Buffer> {
  return buffer(Readable.from(pieces(bytes, 100_003)).pipe(new BlockCompressor()));
}

describe('blocks of ClickHouse’s compression', () => {
  let bench: Awaited<ReturnType<typeof createStoreBench>>;
  let store: StoreProcess;
  beforeAll(async () => {
    bench = await createStoreBench();
    store = await StoreProcess.start(bench.module, bench.directory);
  });
  afterAll(async () => {
    await store.kill();
    await bench.remove();
  });

  const send = (path: string, body: string | Buffer) =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer; isWhole: boolean }>(
      (resolve, reject) => {
        const auth = `${FULL_USER.username}:${FULL_USER.password}`;
        const request = httpRequest(`${store.url}${path}`, { method: 'POST', auth }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.once('error', () => undefined);
          response.once('close', () => {
            const { statusCode: status = 0, headers, complete: isWhole } = response;
            resolve({ status, headers, body: Buffer.concat(parts), isWhole });
          });
        });
        request.once('error', reject);
        request.end(body);
      },
    );

  it('that the engine wrote into its files are decoded, with matching checksums', async () => {
    const columns = 'n UInt64 CODEC(LZ4), z UInt64 CODEC(NONE)';
    const settings = 'min_bytes_for_wide_part = 0, replace_long_file_name_to_hash = 0';
    await send('/', `CREATE TABLE numbers (${columns}) ENGINE = MergeTree ORDER BY n SETTINGS ${settings}`);
    await send('/', `INSERT INTO numbers SELECT number, number FROM numbers(${NUM_NUMBERS})`);
    const directory = join(bench.directory, 'engine');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    for (const name of ['n.bin', 'z.bin']) {
      const file = files.find((path) => path.endsWith(`/${name}`));
      const bytes = readFileSync(join(directory, String(file)));
      expect((await decoded(bytes)).equals(numbers)).toBe(true);
      expect((await decoded(bytes, 1_001)).equals(numbers)).toBe(true);
    }
  });

  it('decode to their input, and are smaller', async () => {
    const blocks = await encoded(numbers);
    expect(blocks.length).toBeLessThan(0.6 * numbers.length);
    expect((await decoded(blocks, 777)).equals(numbers)).toBe(true);
    expect(await encoded(Buffer.alloc(0))).toHaveLength(0);
  });

  it('carry a result when the client asks with compress=1, and no Content-Encoding', async () => {
    const path = '/?compress=1&enable_http_compression=1';
    const { headers, body } = await send(path, `SELECT number FROM numbers(${NUM_NUMBERS}) FORMAT RowBinary`);
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.length).toBeLessThan(0.6 * numbers.length);
    expect((await decoded(body)).equals(numbers)).toBe(true);
  });

  it('carry a statement, and the data of an INSERT, with decompress=1', async () => {
    await send('/', 'CREATE OR REPLACE TABLE items (n UInt64) ENGINE = MergeTree ORDER BY n');
    const statement = await encoded(Buffer.from('INSERT INTO items VALUES (1), (2)'));
    expect((await send('/?decompress=1', statement)).status).toBe(200);
    const insert = encodeURIComponent('INSERT INTO items FORMAT RowBinary');
    expect((await send(`/?decompress=1&query=${insert}`, await encoded(numbers))).status).toBe(200);
    const select = await encoded(Buffer.from('SELECT count(), sum(n) FROM items'));
    const { body } = await send('/?decompress=1&compress=1', select);
    // The numbers below N add up to N (N − 1) / 2.
    expect((await decoded(body)).toString()).toBe(
      `${NUM_NUMBERS + 2}\t${(NUM_NUMBERS * (NUM_NUMBERS - 1)) / 2 + 3}\n`,
    );
  });

  it('are refused and insert nothing when they are damaged, truncated, or of another method', async () => {
    await send('/', 'CREATE OR REPLACE TABLE items (n UInt64) ENGINE = MergeTree ORDER BY n');
    const blocks = await encoded(numbers);
    const changed = (at: number, to: number) => {
      const copy = Buffer.from(blocks);
      copy[at] = to;
      return copy;
    };
    const path = `/?decompress=1&query=${encodeURIComponent('INSERT INTO items FORMAT RowBinary')}`;
    const codeOf = async (body: Buffer) => (await send(path, body)).headers['x-clickhouse-exception-code'];
    expect(await codeOf(changed(blocks.length - 1, blocks[blocks.length - 1] ^ 1))).toBe('40');
    expect(await codeOf(changed(3, blocks[3] ^ 1))).toBe('40');
    expect(await codeOf(blocks.subarray(0, -5))).toBe('271');
    expect(await codeOf(blocks.subarray(0, 20))).toBe('271');
    // The third byte of the size: 32 MiB more than there are.
    expect(await codeOf(changed(20, 0x7f))).toBe('271');
    expect(await codeOf(numbers)).toBe('271');
    const { body } = await send('/', 'SELECT count() FROM items');
    expect(body.toString()).toBe('0\n');
  });

  it('are torn behind the exception when a statement fails in mid-stream', async () => {
    const failing = "SELECT throwIf(number = 3000000, 'too far') FROM numbers(4000000)";
    const { status, body, isWhole } = await send('/?compress=1&max_block_size=65536', failing);
    expect([status, isWhole]).toEqual([200, false]);
    const text = (await decoded(body)).toString();
    expect(text.startsWith('0\n0\n')).toBe(true);
    expect(text).toMatch(/\r\n__exception__\r\n[^]*too far[^]*\r\n__exception__\r\n$/);
  });
});
