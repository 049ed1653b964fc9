import {
  Dictionary,
  Field,
  Int32,
  List,
  makeData,
  Null,
  Table,
  tableToIPC,
  Uint8,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordingError } from '../recording-error.js';
import { checkRecord } from '../wire/check-wire.js';
import { WIRE_TYPES } from '../wire/wire-records.js';
import { parseRecords, RECORD_MEDIA_TYPES } from './parse-records.js';

const ARROW = 'application/vnd.apache.arrow.stream';

const listOf = (type: Int32 | Uint8) => new List(new Field('item', type, true));

const HUGE_SCHEMA =
  '/////3gAAAAQAAAAAAAKADAADgAHAAgACgAAAAAAAAEQAAAAAAAEACgACAAAAAQACAAAAAQAAAABAAAAFAAAABAAGAAEAAsAEwAUAAAADAAQAAAAFAAAAAAAAAEYAAAAAAAABRgAAAAHAAAAZXBpc29kZQAAAAAABAAEAAQAAAD/////mAAAABQAAAAAAAAADAAWABQADwAQAAQADAAAABAAAAAAAAAAAAAAAxAAAAAEAAoAGAAMAAgABAAKAAAAFAAAABAAAAABAAAAAAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAEAAABhAAAAAAAAAP////8AAAAA';
const HUGE_BUFFERS =
  '/////3gAAAAQAAAAGQAKABAADgAHAAgACgAAAAAAAAEQAAAAAAAEAAgACAAAAAQACAAAAAQAAAABAAAAFAAAABAAGAAEAAsAEwAUAAAADAAQAAAAFAAAAAAAAAEYAAAAAAAABRgAAAAHAAAAZXBpc29kZQAAAAAABAAEAAQAAAD/////mAAAABQAAAAAAAAADAAWABQADwAQAAQADAAAABAAAAAAAAAAAAAAAxAAAAAEAAoAGAAMAAgABAAKAAAAFAAAAEgAAAABAAAAAAAAAAAAAAADAAAlAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAEAAABhAAAAAAAAAP////8AAAAA';
const ODD_VTABLE =
  '/////3gAAAAQAAAAAAAKABAADgAHAAgACgAAAAAAAAEQAAAAAAAEAAkACAAAAAQACAAAAAQAAAABAAAAFAAAABAAGAAEAAsAEwAUAAAADAAQAAAAFAAAAAAAAAEYAAAAAAAABRgAAAAHAAAAZXBpc29kZQAAAAAABAAEAAQAAAD/////mAAAABQAAAAAAAAADAAWABQADwAQAAQADAAAABAAAAAAAAAAAAAAAxAAAAAEAAoAGAAMAAgABAAKAAAAFAAAAEgAAAABAAAAAAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAEAAABhAAAAAAAAAP////8AAAAA';
const BEHIND_END =
  '/////3gAAAAQAAAAAAAKABAADgAHAAgACgAAAAAAAAEQAAAAAAAEAAgACAAAAAQACAAAAAQAAAABAAAAFAAAABAAGAAEAAsAEwAUAAAADAAQAAAAFAAAAAAAAAEYAAAAAAAABRgAAAAHAAAAZXBpc29kZQAAAAAABAAEAAQAAAAAAAAAmAAAABQAAAAAAAAADAAWABQADwAQAAQADAAAABAAAAAAAAAAAAAAAxAAAAAEAAoAGAAMAAgABAAKAAAAFAAAAEgAAAABAAAAAAAAAAAAAAADADQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAEAAABhAAAAAAAAAP////8AAAAA';

function goodStreams(): Buffer[] {
  const tables = [
    new Table({ episode: vectorFromArray(['a'], new Utf8()) }),
    new Table({
      step: vectorFromArray([0, 1], new Int32()),
      reward: vectorFromArray([null, 0.5]),
      token_ids: vectorFromArray([[1, 2], []], listOf(new Int32())),
      token_mask: vectorFromArray([[0, 1], []], listOf(new Uint8())),
    }),
    new Table({
      type: vectorFromArray(['step', 'step', 'reward'], new Dictionary(new Utf8(), new Int32())),
      info: vectorFromArray(['{}', null, '[]'], new Utf8()),
      value: vectorFromArray([null, null, null], new Null()),
    }),
  ];
  return tables.map((table) => Buffer.from(tableToIPC(table, 'stream')));
}

describe('parseRecords', () => {
  it('takes rows of an Arrow stream as steps, with lists of tokens, JSON texts, and nulls left out', () => {
    const table = new Table({
      episode: vectorFromArray(['a', 'a'], new Utf8()),
      step: vectorFromArray([0, 1], new Int32()),
      reward: vectorFromArray([null, 0.5]),
      token_ids: vectorFromArray([[1, 2], []], listOf(new Int32())),
      token_mask: vectorFromArray([[0, 1], []], listOf(new Uint8())),
      info: vectorFromArray(['{"x": [1]}', null], new Utf8()),
    });
    const records = parseRecords(Buffer.from(tableToIPC(table, 'stream')), ARROW, 10);
    expect(records).toEqual([
      { type: 'step', episode: 'a', step: 0, tokens: { ids: [1, 2], mask: [0, 1] }, info: { x: [1] } },
      { type: 'step', episode: 'a', step: 1, reward: 0.5, tokens: { ids: [], mask: [] } },
    ]);
    records.forEach((record, i) => checkRecord(record, i));
  });

  it('keeps a null value of a reward in an Arrow stream, which retracts it', () => {
    const table = new Table({
      type: vectorFromArray(['reward', 'step'], new Utf8()),
      episode: vectorFromArray(['a', 'a'], new Utf8()),
      value: vectorFromArray([null, null, 1]).slice(0, 2),
    });
    expect(parseRecords(Buffer.from(tableToIPC(table, 'stream')), ARROW, 10)).toEqual([
      { type: 'reward', episode: 'a', value: null },
      { type: 'step', episode: 'a' },
    ]);
  });

  it('names the line of NDJSON that is no JSON', () => {
    const body = Buffer.from('{"a": 1}\n\n{"b": 2}\r\n{oops}\n');
    expect(() => parseRecords(body, 'application/x-ndjson', 10)).toThrow(/^Line 4 is no JSON/);
    expect(parseRecords(body.subarray(0, 20), 'application/x-ndjson', 10)).toEqual([{ a: 1 }, { b: 2 }]);
  });

  // Each of these took gigabytes or minutes: fuzzing found them.
  it.each([
    ['a schema whose lists lie outside it', HUGE_SCHEMA],
    ['a vtable that ends in the middle of an offset', ODD_VTABLE],
    ['a batch whose list of buffers is huge', HUGE_BUFFERS],
    ['a batch behind the mark of the end', BEHIND_END, 0],
  ])('does not follow %s', (_, base64, rows = -1) => {
    const parse = () => parseRecords(Buffer.from(base64, 'base64'), ARROW, 100);
    if (rows >= 0) expect(parse()).toHaveLength(rows);
    else expect(parse).toThrow(expect.objectContaining({ code: 'MALFORMED_RECORDS' }) as Error);
  });

  it('refuses lists that a dictionary repeats into more items than any body has', () => {
    const items = Array.from({ length: 20_000 }, (_, i) => i);
    const lists = vectorFromArray([items], listOf(new Int32()));
    const type = new Dictionary(lists.type, new Int32());
    const data = makeData({ type, length: 200, data: new Int32Array(200), dictionary: lists });
    const body = Buffer.from(tableToIPC(new Table({ token_ids: new Vector([data]) }), 'stream'));
    expect(parseRecords(body, ARROW, 10)).toHaveLength(11);
    expect(() => parseRecords(body, ARROW, 1_000)).toThrow(/more items than its bytes can hold/);
  });

  it('answers damaged Arrow streams with records or with MALFORMED_RECORDS', () => {
    const good = goodStreams();
    const number = fc.constantFrom(0, 1, -1, 2, 4, 8, 100, 0xffff, 0x3fffffff, 0x7fffffff, -0x80000000);
    const change = fc.tuple(fc.nat(10_000), fc.oneof(number, fc.integer()), fc.constantFrom(1, 4));
    const streams = fc.tuple(fc.constantFrom(...good), fc.array(change, { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(streams, ([stream, changes]) => {
        const body = Buffer.from(stream);
        for (const [place, value, bytes] of changes) {
          if (bytes === 1) body[place % body.length] = value;
          else body.writeInt32LE(value, (place % (body.length >> 2)) * 4);
        }
        try {
          expect(parseRecords(body, ARROW, 100)).toBeInstanceOf(Array);
        } catch (error) {
          expect(error).toMatchObject({ code: 'MALFORMED_RECORDS' });
        }
      }),
      { numRuns: 4_000 },
    );
  });

  it('answers any bytes with records or with MALFORMED_RECORDS', () => {
    const valid = Buffer.from(
      tableToIPC(new Table({ episode: vectorFromArray(['a'], new Utf8()) }), 'stream'),
    );
    const damaged = fc
      .tuple(fc.nat(valid.length - 1), fc.nat(255), fc.nat(valid.length))
      .map(([at, byte, length]) => {
        const bytes = Buffer.from(valid);
        bytes[at] = byte;
        return bytes.subarray(0, length);
      });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      damaged,
    );
    fc.assert(
      fc.property(bytes, fc.constantFrom(...RECORD_MEDIA_TYPES), (body, mediaType) => {
        try {
          expect(parseRecords(body, mediaType, 100)).toBeInstanceOf(Array);
        } catch (error) {
          expect(error).toMatchObject({ code: 'MALFORMED_RECORDS' });
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('checkRecord', () => {
  it('takes any JSON value or refuses it with index, field and rule', () => {
    const typed = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(...WIRE_TYPES));
    const value = fc.oneof(
      fc.jsonValue(),
      typed.map(([fields, type]) => ({ ...fields, type, episode: 'e' })),
    );
    fc.assert(
      fc.property(value, (record) => {
        try {
          checkRecord(record, 7);
        } catch (error) {
          expect(error).toBeInstanceOf(RecordingError);
          const [fault] = (error as RecordingError).faults;
          expect(fault).toMatchObject({ index: 7, field: expect.any(String) as string });
          expect(fault.rule).toMatch(/^must /);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [{ type: 'step', episode: 'e' }, 'step', undefined, 'must be given'],
    [{ type: 'step', episode: 'e', step: 1.5 }, 'step', 1.5, 'must be an integer'],
    [
      { type: 'step', episode: 'e', step: 0, tokens: { ids: [1], mask: [2] } },
      'tokens.mask[0]',
      2,
      'must be ≤ 1',
    ],
    [
      { type: 'step', episode: 'e', step: 0, actoin: 'x' },
      'actoin',
      'x',
      'must be absent: there is no such field',
    ],
    [
      { type: 'reward', episode: 'e', name: 'r', value: 'x' },
      'value',
      'x',
      'must be null or a finite number',
    ],
    [
      { type: 'end', episode: 'e', endReason: 'won' },
      'endReason',
      'won',
      'must be one of terminated, truncated, abandoned',
    ],
    [{ type: 'episode', episode: '' }, 'episode', '', 'must be non-empty text'],
    [
      { type: 'end', episode: 'e', occurredAt: 'yesterday' },
      'occurredAt',
      'yesterday',
      'must be ISO 8601 text with a time zone, or whole microseconds since the Unix epoch',
    ],
    [{ type: 'stop' }, 'type', 'stop', 'must be one of episode, step, end, reward, annotation'],
  ])('refuses %j', (record, field, value, rule) => {
    expect(() => checkRecord(record, 2)).toThrow(
      expect.objectContaining({
        code: 'INVALID_RECORDS',
        faults: [{ index: 2, field, value, rule }],
      }) as Error,
    );
  });
});
