import { buildWordTokenizer, plainPolicyText } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import { EpisodeContext, type ContextOptions } from './episode-context.js';
import type { Turn } from '../turn/turn.js';

/** Ids: 0 pad, 1 end of turn, then the words. */
const { prompts } = plainPolicyText(buildWordTokenizer(['a', 'b', 'c', 'd', 'x', 'y', 'z']));
const [A, B, C, D, X, Y, Z] = [2, 3, 4, 5, 6, 7, 8];
const END = 1;

const options = {
  prompts,
  window: 'history',
  maxTokens: 8,
  maxNewTokens: 2,
  whenContextFull: 'truncate',
} as const;
const show = (text: string) => ({ text, anchor: null, legalActions: null });
const act = (...tokenIds: number[]) => ({ tokenIds: Int32Array.from(tokenIds) }) as Turn;

/** A context after two turns: it has the tokens a END x b END y. */
function afterTwoTurns(change: Partial<ContextOptions>) {
  const context = new EpisodeContext({ ...options, ...change });
  for (const [text, action] of [
    ['a', X],
    ['b', Y],
  ] as const) {
    context.append(context.promptFor(show(text)), act(action));
  }
  return context;
}

describe('EpisodeContext', () => {
  it('appends each observation to the history, and tells when no action would fit behind it', () => {
    const context = new EpisodeContext(options);
    const first = context.promptFor(show('a'));
    expect([first.keptPrefixTokens, ...first.tokenIds]).toEqual([0, A, END]);
    context.append(first, act(X));
    const second = context.promptFor(show('b'));
    expect([second.keptPrefixTokens, ...second.tokenIds]).toEqual([3, B, END]);
    expect(context.fits(second)).toBe(true);
    context.append(second, act(Y));
    // 6 tokens, 2 more and 2 for the action are 10, of 8.
    expect(context.fits(context.promptFor(show('c')))).toBe(false);
  });

  it('drops the oldest turns whole, until the context is at most half full, and appends from there', () => {
    const context = afterTwoTurns({ maxTokens: 10, maxNewTokens: 3, whenContextFull: 'dropOldest' });
    const third = context.promptFor(show('c'));
    // The newest turn and the observation are 5 tokens; with the turn before it they would be 8.
    expect([third.keptPrefixTokens, ...third.tokenIds]).toEqual([0, B, END, Y, C, END]);
    expect(third.numHiddenTurns).toBe(1);
    context.append(third, act(Z));
    const fourth = context.promptFor(show('d'));
    expect([fourth.keptPrefixTokens, ...fourth.tokenIds]).toEqual([0, C, END, Z, D, END]);
  });

  it('keeps only the observation where the newest turn does not fit into half of the context', () => {
    const { tokenIds } = afterTwoTurns({ whenContextFull: 'dropOldest' }).promptFor(show('c'));
    expect([...tokenIds]).toEqual([C, END]);
  });

  it('has no room for an observation that is too long by itself, whatever it drops', () => {
    const context = afterTwoTurns({ whenContextFull: 'dropOldest' });
    expect(context.fits(context.promptFor(show('c c c c c c')))).toBe(false);
  });

  it('reads the end of a final observation for which there is no room', () => {
    const context = afterTwoTurns({});
    const { keptPrefixTokens, tokenIds } = context.finalPrompt(context.promptFor(show('a b c d c b a')));
    expect([keptPrefixTokens, ...tokenIds]).toEqual([0, C, D, C, B, A, END]);
  });
});
