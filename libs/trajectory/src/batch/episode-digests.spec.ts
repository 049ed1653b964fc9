import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsFromTokens } from '../testing/index.js';
import { episodeDigests } from './episode-digests.js';
import type { EpisodeColumns } from './episode-columns.js';

const three = () =>
  columnsFromTokens([
    {
      steps: [{ observation: [1, 2], action: [3], fields: { anchor: 'a' } }],
      ended: { finalTokenIds: Int32Array.of(9) },
    },
    {
      steps: [
        { observation: [4], action: [5, 6] },
        { observation: [7], action: [8] },
      ],
    },
    { steps: [{ observation: [1, 2], action: [3] }], groupId: 'other' },
  ]);

const COLUMNS = [
  ...['endReasons', 'successes', 'finalKeptPrefixTokens', 'rewards', 'actionValid', 'keptPrefixTokens'],
  ...[
    'temperatures',
    'greedy',
    'tokenIds',
    'actionMask',
    'tokenLogprobs',
    'tokenPolicyVersions',
    'finalTokenIds',
  ],
] as (keyof EpisodeColumns)[];

describe('episodeDigests', () => {
  it('are 16 hexadecimal digits an episode, whatever else is read with it', () => {
    const digests = episodeDigests(three());
    expect(digests.every((digest) => /^[0-9a-f]{16}$/.test(digest))).toBe(true);
    expect(new Set(digests).size).toBe(3);
    expect(episodeDigests(columnsFromTokens([{ steps: [{ observation: [1, 2], action: [3] }] }]))).toEqual([
      digests[2],
    ]);
  });

  it.each(COLUMNS)('tell a change of %s in any place', (name) => {
    const before = episodeDigests(three());
    const { length } = three()[name] as { readonly length: number };
    fc.assert(
      fc.property(fc.nat(length - 1), (at) => {
        const changed = three();
        const column = changed[name] as Float64Array;
        column[at] = column[at] === 1 ? 0 : 1;
        const after = episodeDigests(changed);
        expect(after.filter((digest, e) => digest !== before[e])).toHaveLength(1);
      }),
      { numRuns: 20 },
    );
  });

  it('tell an anchor that is missing from an empty one, and one step from two', () => {
    const withAnchor = (anchor: string | null) =>
      episodeDigests(
        columnsFromTokens([{ steps: [{ observation: [1], action: [2], fields: { anchor } }] }]),
      )[0];
    expect(new Set([withAnchor(null), withAnchor(''), withAnchor('a')]).size).toBe(3);
    const joined = columnsFromTokens([{ steps: [{ observation: [1, 2], action: [3] }] }]);
    const parted = columnsFromTokens([
      {
        steps: [
          { observation: [1], action: [] },
          { observation: [2], action: [3] },
        ],
      },
    ]);
    expect(episodeDigests(joined)).not.toEqual(episodeDigests(parted));
  });

  it('count every NaN as the same', () => {
    const [columns, other] = [three(), three()];
    columns.tokenLogprobs[2] = NaN;
    new Uint32Array(other.tokenLogprobs.buffer, other.tokenLogprobs.byteOffset)[2] = 0xffc0_1234;
    expect(episodeDigests(other)).toEqual(episodeDigests(columns));
  });
});
