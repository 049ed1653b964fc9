import { openBackend } from '@retrace/compute';
import { evaluateLogprobs, Transformer } from '@retrace/policy';
import type { TokenBatch } from '@retrace/trajectory';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LoggedDecisions } from './logged-decisions.js';
import { qFeatures } from './q-features.js';

const options = { temperature: 0.7, maxTokensPerMicroBatch: 64 };
const config = {
  numLayers: 1,
  hiddenSize: 8,
  numHeads: 1,
  numKeyValueHeads: 1,
  headDim: 8,
  intermediateSize: 8,
  maxPositions: 16,
  lmHeadInitializerStd: 1,
  vocabSize: 6,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: false,
  valueHead: false,
};

/** One context, 0 1 | 2 | 3 | 4 : the actions 2 and 4 at positions 2 and 4. */
const batch = { tokenIds: Int32Array.of(0, 1, 2, 3, 4), sequenceOffsets: Int32Array.of(0, 5) } as TokenBatch;
const logged: LoggedDecisions = {
  decisions: [
    { sequenceStart: 0, firstToken: 2, endToken: 3, anchor: null, step: 0 },
    { sequenceStart: 0, firstToken: 4, endToken: 5, anchor: null, step: 1 },
  ],
  offsets: Int32Array.of(0, 2),
  groupIds: Int32Array.of(0),
  rewards: Float32Array.of(0, 1),
  candidateLogprobs: new Float32Array(2),
  behaviorLogprobs: new Float32Array(2),
};

beforeAll(async () => {
  await openBackend();
});

describe('qFeatures', () => {
  it('weighs every action by the candidate’s probability of it, and one more by what is left', async () => {
    const model = Transformer.initialize(config, 3);
    const found = await qFeatures(model, batch, logged, null, options);
    if (found.kind === 'none') throw new Error(found.reason);
    const { numFeatures, features, expectedFeatures } = found.transitions;
    // Features (1, step share) for the actions 2, 4 and "another".
    expect(numFeatures).toBe(6);
    expect([...features]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
    const probabilityOf = async (...tokens: number[]) => {
      const { logprobs } = await evaluateLogprobs(
        model,
        { tokenIds: Int32Array.from(tokens), sequenceOffsets: Int32Array.of(0, tokens.length) },
        options,
      );
      return Math.exp(logprobs[tokens.length - 1]);
    };
    const first = [await probabilityOf(0, 1, 2), await probabilityOf(0, 1, 4)];
    const second = [await probabilityOf(0, 1, 2, 3, 2), await probabilityOf(0, 1, 2, 3, 4)];
    const row = ([a, b]: number[], step: number) => [a, b, 1 - a - b].flatMap((p) => [p, p * step]);
    [...row(first, 0), ...row(second, 1)].forEach((expected, i) => {
      expect(expectedFeatures[i]).toBeCloseTo(expected, 5);
    });
    model.dispose();
  });

  it('says why there can be none where there are too many actions', async () => {
    const model = Transformer.initialize({ ...config, vocabSize: 64 }, 3);
    const numTokens = 34;
    const many = {
      tokenIds: Int32Array.from({ length: 2 * numTokens }, (_, n) => (n % 2 === 0 ? 0 : (n + 1) / 2)),
      sequenceOffsets: Int32Array.from({ length: numTokens + 1 }, (_, s) => 2 * s),
    } as TokenBatch;
    const decisions = Array.from({ length: numTokens }, (_, s) => ({
      sequenceStart: 2 * s,
      firstToken: 2 * s + 1,
      endToken: 2 * s + 2,
      anchor: null,
      step: 0,
    }));
    expect(await qFeatures(model, many, { ...logged, decisions }, null, options)).toEqual({
      kind: 'none',
      reason:
        'a Q model needs E_π Q over all actions; the episodes have 34 different ones, at most 32 can be weighed',
    });
    model.dispose();
  });
});
