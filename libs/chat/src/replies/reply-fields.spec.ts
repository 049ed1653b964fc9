import { describe, expect, it } from 'vitest';
import { completionCounts, messageCounts } from '../calls/usage.js';
import { countedUsage } from './reply-fields.js';

const NONE = { inputTokens: null, cachedInputTokens: null, outputTokens: null, reasoningTokens: null };

describe('The usage of an answer', () => {
  it('of Anthropic has the tokens of the cache in its input', () => {
    const told = {
      ...{ input_tokens: 10, output_tokens: 2 },
      ...{ cache_read_input_tokens: 3, cache_creation_input_tokens: 4 },
    };
    const usage = { ...NONE, inputTokens: 17, cachedInputTokens: 3, outputTokens: 2 };
    expect(countedUsage(told, messageCounts)).toEqual(usage);
  });

  it.each([-3, 1.5, '3', null])('of Anthropic leaves out %j, which is no count', (cached) => {
    const told = { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: cached };
    expect(countedUsage(told, messageCounts)).toEqual({ ...NONE, inputTokens: 10, outputTokens: 2 });
  });

  it('of Anthropic keeps the tokens of the cache where it has no others', () => {
    const told = { input_tokens: null, output_tokens: null, cache_read_input_tokens: 4 };
    expect(countedUsage(told, messageCounts)).toEqual({ ...NONE, cachedInputTokens: 4 });
  });

  it('of chat completions leaves out what is no count', () => {
    const told = {
      ...{ prompt_tokens: -1, completion_tokens: 2 },
      ...{
        prompt_tokens_details: { cached_tokens: 1.5 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    };
    const usage = { ...NONE, outputTokens: 2, reasoningTokens: 1 };
    expect(countedUsage(told, completionCounts)).toEqual(usage);
  });

  it.each([[{}], [[]], ['x']])('without counts is known to have none: %j', (told) => {
    expect([countedUsage(told, messageCounts), countedUsage(told, completionCounts)]).toEqual([NONE, NONE]);
  });

  it.each([undefined, null])('is null where the answer has none: %j', (told) => {
    expect([countedUsage(told, messageCounts), countedUsage(told, completionCounts)]).toEqual([null, null]);
  });
});
