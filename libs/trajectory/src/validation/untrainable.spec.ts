import { describe, expect, it } from 'vitest';
import { sampleStep } from '../testing/index.js';
import { findUntrainableReason } from './untrainable.js';

const step = sampleStep({ numTokens: 4, numActionTokens: 2 });
const sampling = { temperature: 0.7, topK: 0, topP: 1, greedy: false, maxNewTokens: 4 };

describe('findUntrainableReason', () => {
  it('is empty for a step with action tokens, logprobs and sampling parameters', () => {
    expect(findUntrainableReason({ ...step, sampling })).toBe('');
  });

  it.each([
    ['no token ids', { actionMask: new Uint8Array(4) }],
    ['no token ids', { actionMask: new Uint8Array(0), tokenLogprobs: new Float32Array(0) }],
    ['no behavior logprobs', { tokenLogprobs: Float32Array.of(0, 0, -1, NaN), logprobMode: 'none' as const }],
    ['sampling parameters unknown', { sampling: null }],
    ['sampled with top-k or top-p', { sampling: { ...sampling, topK: 40 } }],
    ['sampled with top-k or top-p', { sampling: { ...sampling, topP: 0.95 } }],
    ['logprobs before temperature', { logprobMode: 'raw' as const }],
  ])('says "%s" for %o', (reason, fields) => {
    expect(findUntrainableReason({ ...step, sampling, ...fields })).toBe(reason);
  });

  it('accepts raw logprobs at temperature 1, which changes nothing', () => {
    const atOne = { ...sampling, temperature: 1 };
    expect(findUntrainableReason({ ...step, sampling: atOne, logprobMode: 'raw' })).toBe('');
  });

  it('does not look at the logprobs of tokens that were not sampled', () => {
    const tokenLogprobs = Float32Array.of(NaN, NaN, -1, -2);
    expect(findUntrainableReason({ ...step, sampling, tokenLogprobs })).toBe('');
  });

  it('names the first of several reasons', () => {
    const all = { actionMask: new Uint8Array(4), sampling: null };
    expect(findUntrainableReason({ ...step, ...all })).toBe('no token ids');
  });
});
