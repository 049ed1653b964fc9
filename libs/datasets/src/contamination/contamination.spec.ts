import { describe, expect, it } from 'vitest';
import type { DatasetRow } from '../formats/dataset-format.js';
import { checkContamination, isContaminated, type RowIdentity } from './contamination.js';
import { nGrams, splitWords } from './n-grams.js';

const row = (content: string): DatasetRow => ({ messages: [{ role: 'user', content }] });
const words = (text: string) => text.split(' ');

async function check(
  texts: Readonly<Record<string, readonly string[]>>,
  identity: (split: string, row: number) => Partial<RowIdentity> = () => ({}),
) {
  const identities = new Map(
    Object.entries(texts).map(([split, rows]) => [
      split,
      rows.map((_, r) => ({ tasks: [`${split} ${r}`], anchors: [], ...identity(split, r) })),
    ]),
  );
  async function* rowsOf(split: string) {
    for (const text of texts[split]) yield Promise.resolve(row(text));
  }
  return checkContamination(identities, rowsOf, 3);
}

describe('n-grams', () => {
  it('are the distinct stretches of n words; fewer words are one stretch, and none give none', () => {
    // a b c, b c a, c a b, a b c
    expect(nGrams(words('a b c a b c'), 3).size).toBe(3);
    expect(nGrams(words('a b'), 3).size).toBe(1);
    expect(nGrams([], 3).size).toBe(0);
  });

  it('tell the order of words', () => {
    expect(nGrams(words('a b'), 2)).not.toEqual(nGrams(words('b a'), 2));
  });

  it('do not collide among 100,000 numbered pairs', () => {
    const grams = new Set(Array.from({ length: 100_000 }, (_, k) => [...nGrams([`x${k}`, 'y'], 2)][0]));
    expect(grams.size).toBe(100_000);
  });

  it('read only what was said, in lower case', () => {
    expect(splitWords({ ...row('Hello, World 42!'), item_id: 'secret' })).toEqual(['hello', 'world', '42']);
  });
});

describe('contamination', () => {
  const TRAIN = ['one two three four', 'five six seven eight', 'nine ten eleven twelve'];

  it('finds a row that has n words in a row from the largest split', async () => {
    const report = await check({ train: TRAIN, test: ['then six seven eight', 'something else here'] });
    expect(report.splits).toEqual([
      {
        split: 'test',
        comparedWith: 'train',
        numRows: 2,
        numRowsWithSharedTask: 0,
        numRowsWithSharedAnchor: 0,
        numRowsWithSharedNGram: 1,
        examples: [0],
      },
    ]);
    expect(isContaminated(report)).toBe(true);
  });

  it('ignores the text of a template that all rows have', async () => {
    const template = (text: string) => `you are an agent ${text}`;
    const report = await check({
      train: TRAIN.map(template),
      test: ['red green blue black', 'north south east west'].map(template),
    });
    expect(isContaminated(report)).toBe(false);
  });

  it('finds shared tasks and shared states', async () => {
    const report = await check({ train: TRAIN, test: ['a b c d', 'e f g h'] }, (split, r) =>
      split === 'test' && r === 1 ? { tasks: ['train 2'], anchors: [] } : { anchors: [`state ${r % 2}`] },
    );
    expect(report.splits).toMatchObject([
      { numRowsWithSharedTask: 1, numRowsWithSharedAnchor: 1, numRowsWithSharedNGram: 0, examples: [1, 0] },
    ]);
  });

  it('has nothing to compare with a single split', async () => {
    expect((await check({ train: TRAIN })).splits).toEqual([]);
  });
});
