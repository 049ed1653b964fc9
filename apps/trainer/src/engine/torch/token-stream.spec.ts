import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { encodeRows, fixedListColumn } from '../../arrow/arrow-rows.js';
import { decodeNumbers, encodeNumbers, encodeSequences } from './token-stream.js';

describe('encodeSequences', () => {
  it('writes one row a sequence, empty ones too, with the mask where there is one', () => {
    const offsets = Int32Array.of(0, 2, 2, 5);
    const sequences = { tokenIds: Int32Array.of(4, 5, 6, 7, 8), sequenceOffsets: offsets };
    const body = encodeSequences({ ...sequences, mask: Uint8Array.of(0, 1, 0, 1, 1) });
    const table = tableFromIPC(body);
    expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'tokens List<Int32>',
      'mask List<Uint8>',
    ]);
    expect(table.toArray().map(({ tokens }) => [...(tokens as Iterable<number>)])).toEqual([
      [4, 5],
      [],
      [6, 7, 8],
    ]);
    expect(table.toArray().map(({ mask }) => [...(mask as Iterable<number>)])).toEqual([
      [0, 1],
      [],
      [0, 1, 1],
    ]);
    const ends = tableFromIPC(
      encodeSequences({ tokenIds: Int32Array.of(1), sequenceOffsets: Int32Array.of(0, 1) }),
    );
    expect(ends.schema.fields.map(({ name }) => name)).toEqual(['tokens']);
  });

  it('writes the chosen ids of the wanted tokens in the row of their sequence', () => {
    const body = encodeSequences(
      {
        tokenIds: Int32Array.of(4, 5, 6, 7),
        sequenceOffsets: Int32Array.of(0, 2, 2, 4),
        ...{ mask: Uint8Array.of(0, 1, 0, 1), wantedOffsets: Int32Array.of(0, 1, 1, 2) },
      },
      { numPerRow: 2, ids: Int32Array.of(8, 9, 10, 11) },
    );
    const rows = tableFromIPC(body).toArray();
    expect(rows.map(({ topIds }) => [...(topIds as Iterable<number>)])).toEqual([[8, 9], [], [10, 11]]);
  });
});

describe('encodeNumbers', () => {
  it('leaves out a column that is null', () => {
    const table = tableFromIPC(
      encodeNumbers({ dLogprob: Float32Array.of(0.5, -1), dEntropy: null, dValue: Float32Array.of(0, NaN) }),
    );
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['dLogprob', 'dValue']);
    expect(table.toArray().map(({ dLogprob }) => dLogprob as number)).toEqual([0.5, -1]);
    expect(table.toArray().map(({ dValue }) => dValue as number)).toEqual([0, NaN]);
  });
});

describe('lists of one length', () => {
  it('are written and read flat, ids and logprobs', () => {
    const body = encodeNumbers({ dLogprob: new Float32Array(2), dTopLogprob: Float32Array.of(1, 2, 3, 4) });
    const { float32s } = decodeNumbers(body, 2);
    expect(float32s.get('dTopLogprob')).toEqual(Float32Array.of(1, 2, 3, 4));
    const ids = encodeRows([['topId', fixedListColumn(Int32Array.of(5, 6, 7, 8, 9, 10), 3)]], 2);
    expect(decodeNumbers(ids, 2).int32s.get('topId')).toEqual(Int32Array.of(5, 6, 7, 8, 9, 10));
    expect(() => decodeNumbers(ids, 1)).toThrow('offset is out of bounds');
  });
});

describe('decodeNumbers', () => {
  const whole = tableToIPC(
    tableFromArrays({ logprob: Float32Array.of(-1, -2, -3), value: Float32Array.of(1, 2, 3) }),
    'stream',
  );

  it('reads float32 columns by name', () => {
    const { float32s: columns } = decodeNumbers(whole, 3);
    expect([...columns.keys()]).toEqual(['logprob', 'value']);
    expect(columns.get('logprob')).toEqual(Float32Array.of(-1, -2, -3));
  });

  it.each([
    ['another number of rows', whole, 2, 'offset is out of bounds'],
    ['fewer rows', whole, 4, 'it has 3 rows, must have 4'],
    ['a body that is cut off', whole.subarray(0, whole.length / 2), 3, "can't be used"],
    ['no Arrow stream', Buffer.from('{"error":{}}'), 3, "can't be used"],
    [
      'another type',
      tableToIPC(tableFromArrays({ logprob: Float64Array.of(1) }), 'stream'),
      1,
      'column logprob is Float64, must be float32',
    ],
  ])('refuses %s, since such an engine is not to be trusted', (_, body, numRows, message) => {
    expect(() => decodeNumbers(body, numRows)).toThrow(
      expect.objectContaining({
        code: 'ENGINE_LOST',
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });
});
