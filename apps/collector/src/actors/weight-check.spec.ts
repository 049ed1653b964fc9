import { openBackend } from '@retrace/compute';
import { evaluateLogprobs, Transformer, type TransformerConfig } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownLogprobs, WeightCheck } from './weight-check.js';

const CONFIG: TransformerConfig = {
  vocabSize: 16,
  hiddenSize: 8,
  numLayers: 1,
  numHeads: 2,
  numKeyValueHeads: 1,
  headDim: 4,
  intermediateSize: 16,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  attentionBias: true,
  maxPositions: 32,
  valueHead: false,
};
const TOKENS = [1, 5, 3, 8, 2, 9, 11, 4];

describe('WeightCheck', () => {
  let first: Transformer;
  let second: Transformer;
  beforeAll(async () => {
    await openBackend({ prefer: ['cpu'] });
    first = Transformer.initialize(CONFIG, 1);
    second = Transformer.initialize(CONFIG, 2);
  });
  afterAll(() => {
    first.dispose();
    second.dispose();
  });

  /** A server that computes with `weights()`, and adds `error` to each logprob. */
  function open(weights: () => Transformer, error = 0, maxDifference = 2e-3) {
    return new WeightCheck({
      url: 'http://server',
      tokenIds: TOKENS,
      maxDifference,
      engine: {
        score: async ({ tokenIds }) => {
          const batch = {
            tokenIds: Int32Array.from(tokenIds),
            sequenceOffsets: Int32Array.of(0, tokenIds.length),
          };
          const options = { temperature: 1, maxTokensPerMicroBatch: 64 };
          const { logprobs } = await evaluateLogprobs(weights(), batch, options);
          return {
            logprobs: logprobs.map((value, n) => (n === 0 ? Number.NaN : value + error)),
            likeliest: null,
          };
        },
      },
    });
  }
  const served = { model: 'm' };
  const policyOf = async (policyVersion: number, model: Transformer) => ({
    policyVersion,
    ownLogprobs: await ownLogprobs(model, TOKENS),
  });

  it('takes a server whose logprobs are those of the policy', async () => {
    let model = first;
    const check = open(() => model, 1e-3);
    await check.require(await policyOf(0, first), served);
    model = second;
    await check.require(await policyOf(1, second), served);
  });

  it('refuses a server that computes with the weights of another model', async () => {
    const check = open(() => second);
    await expect(check.require(await policyOf(0, first), served)).rejects.toMatchObject({
      code: 'WEIGHTS_DIFFER',
      message: expect.stringMatching(
        /^after policy version 0 was delivered, the logprobs of a fixed context of the server at http:\/\/server differ from those of the policy by up to \d\S* nats, more than collection.endpoint.maxLogprobDifference, 0.002;/,
      ) as string,
    });
  });

  it('refuses stale weights even where an update changes logprobs by less than the tolerance', async () => {
    const check = open(() => first, 0, 100);
    await check.require(await policyOf(0, first), served);
    await expect(check.require(await policyOf(1, second), served)).rejects.toMatchObject({
      code: 'WEIGHTS_DIFFER',
      message: expect.stringContaining(
        'they are still those of version 0, so it has not taken the new weights',
      ) as string,
    });
  });

  it('takes a server that is asked again about the same weights', async () => {
    const check = open(() => first);
    await check.require(await policyOf(0, first), served);
    await check.require(await policyOf(1, first), served);
  });

  it('refuses a server that gives no logprob of a token', async () => {
    const check = new WeightCheck({
      ...{ url: 'http://server', tokenIds: TOKENS, maxDifference: 100 },
      engine: {
        score: () =>
          Promise.resolve({
            logprobs: new Float32Array(TOKENS.length).fill(Number.NaN),
            likeliest: null,
          }),
      },
    });
    await expect(check.require(await policyOf(0, first), served)).rejects.toMatchObject({
      code: 'WEIGHTS_DIFFER',
    });
  });
});
