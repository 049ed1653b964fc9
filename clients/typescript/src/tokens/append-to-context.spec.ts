import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToContext } from './append-to-context.js';

const someIds = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });

/** Cases that the client of every language must compute. */
const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/append-to-context.json', import.meta.url), 'utf8'),
) as {
  name: string;
  context: number[];
  prompt: number[];
  completion: number[];
  keptPrefix: number;
  ids: number[];
  mask: number[];
}[];

describe('appendToContext', () => {
  it.each(vectors)(
    'computes what other clients do: $name',
    ({ context, prompt, completion, keptPrefix, ids, mask }) => {
      expect(appendToContext(context, prompt, completion).tokens).toEqual({ ids, mask, keptPrefix });
    },
  );

  it.each([
    {
      name: 'a first call',
      context: [],
      prompt: [1, 2],
      completion: [3],
      kept: 0,
      appended: [1, 2, 3],
      mask: [0, 0, 1],
    },
    {
      name: 'a prompt that extends',
      context: [1, 2, 3],
      prompt: [1, 2, 3, 4],
      completion: [5],
      kept: 3,
      appended: [4, 5],
      mask: [0, 1],
    },
    {
      name: 'the same prompt again',
      context: [1, 2],
      prompt: [1, 2],
      completion: [9],
      kept: 2,
      appended: [9],
      mask: [1],
    },
    {
      name: 'a re-tokenized end',
      context: [1, 2, 3],
      prompt: [1, 2, 7, 8],
      completion: [9],
      kept: 2,
      appended: [7, 8, 9],
      mask: [0, 0, 1],
    },
    {
      name: 'a shortened prompt',
      context: [1, 2, 3],
      prompt: [1],
      completion: [4],
      kept: 1,
      appended: [4],
      mask: [1],
    },
    {
      name: 'another prompt',
      context: [1, 2],
      prompt: [5],
      completion: [6],
      kept: 0,
      appended: [5, 6],
      mask: [0, 1],
    },
    {
      name: 'nothing sampled',
      context: [1],
      prompt: [1, 2],
      completion: [],
      kept: 1,
      appended: [2],
      mask: [0],
    },
  ])('keeps the common prefix of $name', ({ context, prompt, completion, kept, appended, mask }) => {
    const { tokens, context: after } = appendToContext(context, prompt, completion);
    expect(tokens).toEqual({ ids: appended, mask, keptPrefix: kept });
    expect(after).toEqual([...prompt, ...completion]);
  });

  it('gives tokens of the prompt no logprob, and version -1', () => {
    const { tokens } = appendToContext([1], [1, 2], [3, 4], { logprobs: [-0.5, null], version: 7 });
    expect(tokens).toEqual({
      ids: [2, 3, 4],
      mask: [0, 1, 1],
      logprobs: [null, -0.5, null],
      versions: [-1, 7, 7],
      keptPrefix: 1,
    });
  });

  it('refuses another number of logprobs than of sampled tokens', () => {
    expect(() => appendToContext([], [1], [2, 3], { logprobs: [-1] })).toThrow(
      '1 logprobs were given for 2 sampled tokens',
    );
  });

  it('lets the whole context be made again from kept prefix and ids', () => {
    fc.assert(
      fc.property(someIds, someIds, someIds, (context, prompt, completion) => {
        const { tokens, context: after } = appendToContext(context, prompt, completion);
        expect([...context.slice(0, tokens.keptPrefix), ...tokens.ids]).toEqual(after);
        expect(tokens.mask.filter((bit) => bit === 1)).toHaveLength(completion.length);
        // No longer prefix is common.
        const kept = tokens.keptPrefix!;
        expect(kept < context.length && kept < prompt.length && context[kept] === prompt[kept]).toBe(false);
      }),
    );
  });
});
