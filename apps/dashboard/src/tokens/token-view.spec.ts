import { describe, expect, it } from 'vitest';
import { tokenViews } from './token-view';

const tokens = {
  ids: [7, 8, 9],
  texts: ['the', ' map\n', 'left'],
  actionMask: [0, 0, 1],
  logprobs: [0, 0, -0.5],
  entropies: [0, 0, 1.2],
  policyVersions: [-1, 3, 3],
};

describe('tokenViews', () => {
  it('gives logprob and entropy only for sampled tokens', () => {
    const [observed, , sampled] = tokenViews(tokens);
    expect(observed).toMatchObject({
      id: 7,
      sampled: false,
      logprob: null,
      entropy: null,
      policyVersion: null,
    });
    expect(sampled).toMatchObject({ id: 9, sampled: true, logprob: -0.5, entropy: 1.2, policyVersion: 3 });
  });

  it('makes spaces and line breaks visible', () => {
    expect(tokenViews(tokens)[1].text).toBe('·map⏎');
  });

  it('gives null for texts and entropies that are unavailable', () => {
    const [first] = tokenViews({ ...tokens, texts: null, entropies: [] });
    expect(first).toMatchObject({ text: null, entropy: null });
  });
});
