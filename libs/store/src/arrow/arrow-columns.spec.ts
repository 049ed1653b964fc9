import { type RecordBatch, RecordBatchReader } from 'apache-arrow';
import { Session } from 'chdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArrowColumns, assertCompleteArrowStream } from './arrow-columns.js';

/** Every case reads bytes that the engine itself wrote. */
describe('ArrowColumns', () => {
  let session: Session;

  beforeAll(() => {
    session = new Session();
  });

  afterAll(() => {
    session.close();
  });

  async function engineBytes(sql: string, settings = 'max_threads = 1'): Promise<Uint8Array> {
    const uncompressed = /compression_method/.test(settings)
      ? ''
      : ", output_format_arrow_compression_method = 'none'";
    const result = await session.queryAsync(`${sql} SETTINGS ${settings}${uncompressed}`, {
      format: 'ArrowStream',
    });
    return result.bytes();
  }

  async function query(sql: string, settings?: string): Promise<ArrowColumns> {
    return ArrowColumns.read(await engineBytes(sql, settings));
  }

  async function batches(sql: string, settings?: string): Promise<RecordBatch[]> {
    return [...RecordBatchReader.from(await engineBytes(sql, settings))];
  }

  const NUMBERS =
    'SELECT toInt32(number) AS n, range(number % 4) AS list, toString(number) AS text FROM numbers(10)';

  it('joins several record batches, with one offsets array for lists', async () => {
    const columns = new ArrowColumns(await batches(NUMBERS, 'max_block_size = 3'));
    expect(columns.numRows).toBe(10);
    expect([...columns.numbers('n')]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(columns.texts('text')).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    const { offsets, values } = columns.lists('list');
    expect([...offsets]).toEqual([0, 0, 1, 3, 6, 6, 7, 9, 12, 12, 13]);
    expect([...values]).toEqual([0, 0, 1, 0, 1, 2, 0, 0, 1, 0, 1, 2, 0]);
  });

  it('reads slices, whose offsets start elsewhere and whose bitmaps are not cut', async () => {
    const sql = `
      SELECT number % 3 = 0 AS flag, if(number % 2 = 0, NULL, toFloat64(number)) AS maybe,
        if(number % 2 = 0, NULL, toString(number)) AS note, range(number % 4) AS list, [toString(number)] AS texts
      FROM numbers(20)`;
    const [batch] = await batches(`SELECT flag::Bool AS flag, * EXCEPT (flag) FROM (${sql})`);
    const columns = new ArrowColumns([batch.slice(5, 9), batch.slice(13, 14)]);
    expect(columns.numRows).toBe(5);
    expect([...columns.flags('flag')]).toEqual([0, 1, 0, 0, 0]);
    const maybe = columns.nullableNumbers('maybe');
    expect([...maybe.isValid]).toEqual([1, 0, 1, 0, 1]);
    expect([0, 2, 4].map((row) => maybe.values[row])).toEqual([5, 7, 13]);
    expect(columns.nullableTexts('note')).toEqual(['5', null, '7', null, '13']);
    expect(columns.textLists('texts')).toEqual([['5'], ['6'], ['7'], ['8'], ['13']]);
    const { offsets, values } = columns.lists('list');
    expect([...offsets]).toEqual([0, 1, 3, 6, 6, 7]);
    expect([...values]).toEqual([0, 0, 1, 0, 1, 2, 0]);
  });

  it('stops at the logical length of a padded buffer', async () => {
    const [batch] = await batches(NUMBERS);
    const [numbers, lists] = batch.data.children;
    const padded = {
      values: new Int32Array([...(numbers.values as Int32Array), 88, 99]),
      valueOffsets: new Int32Array([...lists.valueOffsets, 1_000_000]),
    };
    const longer = Object.create(batch, {
      data: {
        value: {
          length: batch.numRows,
          children: [
            Object.create(numbers, { values: { value: padded.values } }),
            Object.create(lists, { valueOffsets: { value: padded.valueOffsets } }),
          ],
        },
      },
    }) as RecordBatch;
    const columns = new ArrowColumns([longer]);
    expect(columns.numbers('n')).toHaveLength(10);
    expect(columns.lists('list').offsets).toHaveLength(11);
    expect(columns.lists('list').values).toHaveLength(13);
  });

  it('reads a result without rows', async () => {
    const columns = await query(
      "SELECT 1 AS n, 'x' AS text, [1.5] AS list, NULL::Nullable(Bool) AS maybe WHERE 0",
    );
    expect(columns.numRows).toBe(0);
    expect(columns.numbers('n')).toHaveLength(0);
    expect(columns.texts('text')).toEqual([]);
    expect([...columns.lists('list').offsets]).toEqual([0]);
    expect(columns.nullableNumbers('maybe').isValid).toHaveLength(0);
  });

  it('resolves dictionaries, also when each batch has its own', async () => {
    const columns = await query(
      "SELECT toLowCardinality(concat('v', toString(number))) AS label FROM numbers(7)",
      'max_block_size = 3, output_format_arrow_low_cardinality_as_dictionary = 1',
    );
    expect(columns.texts('label')).toEqual(['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6']);
  });

  it('returns a UUID as its sixteen bytes', async () => {
    const columns = await query("SELECT toUUID('00112233-4455-6677-8899-aabbccddeeff') AS id");
    expect(Buffer.from(columns.fixedBytes('id', 16)).toString('hex')).toBe(
      '00112233445566778899aabbccddeeff',
    );
  });

  it('returns 64-bit integers and times as exact numbers', async () => {
    const columns = await query(
      "SELECT toUInt64(9007199254740991) AS u, toInt64(-9007199254740991) AS i, toDateTime64('2024-11-19 07:06:40.123456', 6, 'UTC') AS t",
    );
    expect(columns.numbers('u')[0]).toBe(Number.MAX_SAFE_INTEGER);
    expect(columns.numbers('i')[0]).toBe(Number.MIN_SAFE_INTEGER);
    expect(columns.numbers('t')[0]).toBe(1_732_000_000_123_456);
  });

  it('keeps the bytes of text that is not UTF-8', async () => {
    const columns = await query("SELECT unhex('00FF80') AS raw");
    expect([...columns.bytes('raw')[0]]).toEqual([0, 255, 128]);
  });

  it('refuses compressed buffers and names the setting that turns compression off', async () => {
    const bytes = await engineBytes(
      'SELECT number FROM numbers(5)',
      "output_format_arrow_compression_method = 'lz4_frame'",
    );
    expect(() => ArrowColumns.read(bytes)).toThrow(/output_format_arrow_compression_method = none/);
  });

  it('refuses a stream that was cut off, and shows the exception that ended it', async () => {
    const bytes = await engineBytes('SELECT number FROM numbers(1000)');
    const cut = bytes.subarray(0, bytes.length - 100);
    expect(() => assertCompleteArrowStream(cut)).toThrow(/does not end with its end mark: it was cut off/);
    const failed = Buffer.concat([
      cut,
      Buffer.from('Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n'),
    ]);
    expect(() => ArrowColumns.read(failed)).toThrow(/Code: 241\. DB::Exception: Memory limit exceeded/);
    expect(() => ArrowColumns.read(new Uint8Array(0))).toThrow(/0 bytes/);
  });

  it('refuses a column that is missing, has another type, or has unexpected nulls', async () => {
    const columns = await query("SELECT 1 AS n, 'x' AS text, NULL::Nullable(Float64) AS maybe");
    expect(() => columns.numbers('m')).toThrow('Result has no column m; it has n, text, maybe');
    expect(() => columns.numbers('text')).toThrow('Column text has type Utf8; must hold numbers');
    expect(() => columns.numbers('maybe')).toThrow('Column maybe has 1 nulls; must have none');
    expect(() => columns.fixedBytes('n', 16)).toThrow('Column n has type Uint8; must hold 16 bytes');
  });
});
