import { actionFormat } from '@retrace/agents';
import { openPolicyText } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import { forcedTurn } from './fork-context.js';

describe('forcedTurn', () => {
  it("says an action in the format of the policy's agent, ended as the policy ends its turns", async () => {
    const text = await openPolicyText({ tokenizer: 'byte', words: null, directory: undefined });
    const format = actionFormat('react', { strict: true });
    const loops = {
      stopStrings: format.stopStrings,
      write: (action: string) => format.write({ actions: [action] }),
    };
    const { action, tokenIds, logprobs } = forcedTurn('left', { text, maxNewTokens: 64, loops });
    expect(format.parse(action, { legalActions: null })).toMatchObject({ actions: ['left'], valid: true });
    expect(text.stopTokenIds).toContain(tokenIds.at(-1));
    expect(logprobs.every(Number.isNaN)).toBe(true);
  });
});
