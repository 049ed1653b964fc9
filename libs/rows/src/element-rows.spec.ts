import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ElementRows } from './element-rows.js';
import { LineRows } from './line-rows.js';
import { isBroken, type RowRead } from './row.js';

type Reader = ElementRows | LineRows;

/** Reads a text in pieces of these sizes, so that rows are cut anywhere. */
function read(reader: Reader, text: string | Buffer, pieceBytes = 7): RowRead[] {
  const bytes = Buffer.from(text);
  const rows: RowRead[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    rows.push(...reader.push(bytes.subarray(at, at + pieceBytes)));
  return [...rows, ...reader.end()];
}

const values = (rows: readonly RowRead[]) => rows.flatMap((row) => (isBroken(row) ? [] : [row.value]));
const codes = (rows: readonly RowRead[]) => rows.flatMap((row) => (isBroken(row) ? [row.code] : []));

/** Rows as dumps have them: the same first key in each, and texts that look like JSON. */
const dumpRow = fc.record({
  item_id: fc.string(),
  conversations: fc.array(
    fc.record({ from: fc.constantFrom('human', 'gpt'), value: fc.oneof(fc.string(), fc.json()) }),
    { maxLength: 4 },
  ),
});

describe('rows of one JSON list', () => {
  it('are read as JSON.parse reads the list, however the bytes are cut into pieces and however they are indented', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(dumpRow, fc.array(fc.jsonValue()))),
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom(undefined, 2),
        (rows, pieceBytes, indent) => {
          const found = read(new ElementRows(), JSON.stringify(rows, null, indent), pieceBytes);
          expect(codes(found)).toEqual([]);
          expect(values(found)).toEqual(JSON.parse(JSON.stringify(rows)));
          expect(found.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
        },
      ),
    );
  });

  it('lose only the damaged one when bytes of one row are changed, inserted or cut out', () => {
    const damage = fc.record({
      row: fc.nat(),
      at: fc.nat(),
      cut: fc.integer({ min: 0, max: 12 }),
      put: fc.uint8Array({ maxLength: 6 }),
    });
    fc.assert(
      fc.property(
        fc.array(dumpRow, { minLength: 3, maxLength: 8 }),
        damage,
        fc.constantFrom(undefined, 2),
        (rows, { row, at, cut, put }, indent) => {
          const texts = rows.map((value) => Buffer.from(JSON.stringify(value, null, indent)));
          const place = row % rows.length;
          const bytes = texts[place];
          // The first key stays, which tells where a row begins; so does the last byte.
          const from = Math.min(14 + (at % (bytes.length - 15)), bytes.length - 1);
          texts[place] = Buffer.concat([
            bytes.subarray(0, from),
            put,
            bytes.subarray(Math.min(from + cut, bytes.length - 1)),
          ]);
          const comma = Buffer.from(',\n');
          const text = Buffer.concat([
            Buffer.from('['),
            ...texts.flatMap((part, index) => (index === 0 ? [part] : [comma, part])),
            Buffer.from(']'),
          ]);
          const found = values(read(new ElementRows(), text)).map((value) => JSON.stringify(value));
          for (const [index, value] of rows.entries()) {
            if (index !== place) expect(found).toContain(JSON.stringify(value));
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never throw, whatever the bytes', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom('[{"a":', '}', ']', '"', '\\', ',').map((t) => Buffer.from(t)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        read(new ElementRows(200), Buffer.concat(pieces));
        read(new LineRows(200), Buffer.concat(pieces));
      }),
      { numRuns: 500 },
    );
  });

  it('end with a cut one when the file does', () => {
    const found = read(new ElementRows(), '[{"a": 1}, {"a": 2}, {"a": "thr');
    expect(values(found)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(found.at(-1)).toMatchObject({ number: 3, code: 'CUT' });
  });

  it('after one without closing brace are read on', () => {
    const found = read(new ElementRows(), '[{"a": 1}, {"a": [1, 2, {"a": 3}, {"a": 4}]');
    expect(values(found)).toEqual([{ a: 1 }, { a: 3 }, { a: 4 }]);
    expect(codes(found)).toHaveLength(1);
  });

  it('that are too large are passed over without being held', () => {
    const text = `[{"a": 1}, {"a": "${'x'.repeat(5000)}"}, {"a": 3}]`;
    const found = read(new ElementRows(1000), text, 100);
    expect(values(found)).toEqual([{ a: 1 }, { a: 3 }]);
    expect(codes(found)).toEqual(['TOO_LARGE']);
  });

  it('nested too deeply are refused before they are parsed', () => {
    const found = read(new ElementRows(), `[{"a": ${'['.repeat(500)}${']'.repeat(500)}}, {"a": 2}]`);
    expect(values(found)).toEqual([{ a: 2 }]);
    expect(codes(found)).toEqual(['TOO_DEEP']);
  });

  it('of values one after the other are read as well', () => {
    expect(values(read(new ElementRows(), '\ufeff{"a": 1}\n{"a": 2}'))).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('with NaN and Infinity of Python have null there, and keep the words in texts', () => {
    const [row] = read(new ElementRows(), '[{"a": NaN, "b": [-Infinity, 1], "c": "NaN, Infinity"}]');
    expect(row).toMatchObject({ value: { a: null, b: [null, 1], c: 'NaN, Infinity' } });
  });

  it('that are not UTF-8 are broken, and not read with other characters', () => {
    const bytes = Buffer.concat([Buffer.from('[{"a": "'), Buffer.from([0xff]), Buffer.from('"}, {"a": 2}]')]);
    const found = read(new ElementRows(), bytes);
    expect(values(found)).toEqual([{ a: 2 }]);
    expect(found[0]).toMatchObject({ code: 'NOT_JSON', detail: 'not valid UTF-8' });
  });
});

describe('rows of lines', () => {
  it('are broken one by one, and numbered by their line', () => {
    const found = read(new LineRows(), '{"a": 1}\n\n{"a": \n{"a": 3}\n{"a": "fo');
    expect(values(found)).toEqual([{ a: 1 }, { a: 3 }]);
    expect(found.map(({ number }) => number)).toEqual([1, 3, 4, 5]);
    expect(codes(found)).toEqual(['NOT_JSON', 'CUT']);
  });

  it('are read where a byte-order mark precedes them, of a file or of one that was joined to it, and with CRLF', () => {
    const text = '\ufeff{"a": "x\\r\\ny"}\r\n{"a": 2}\r\n\ufeff{"a": 3}\r\n\r\n\ufeff\r\n';
    expect(read(new LineRows(), text)).toEqual([
      { number: 1, value: { a: 'x\r\ny' } },
      { number: 2, value: { a: 2 } },
      { number: 3, value: { a: 3 } },
    ]);
  });

  it('keep a byte-order mark inside a text', () => {
    expect(values(read(new LineRows(), '{"a": "\ufeffb"}\n'))).toEqual([{ a: '\ufeffb' }]);
  });

  it('that are too large are passed over', () => {
    const found = read(new LineRows(1000), `{"a": 1}\n{"a": "${'x'.repeat(5000)}"}\n{"a": 3}\n`, 100);
    expect(values(found)).toEqual([{ a: 1 }, { a: 3 }]);
    expect(codes(found)).toEqual(['TOO_LARGE']);
  });
});
