import { columnsFromTokens } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { compareOnPolicy, computeProximalLogprobs } from './logprobs.js';
import { readBatch } from './read-batch.js';

const NUM_TOKENS = 100;
const LOGPROB = -1;

/** Compares tokens whose logprobs an engine finds off by so many nats. */
function check(precision: 'float32' | 'bfloat16', offBy: (n: number) => number): Promise<unknown> {
  const action = Array.from({ length: NUM_TOKENS }, (_, n) => n);
  const step = { observation: [4], action, logprobs: action.map(() => LOGPROB), policyVersions: 2 };
  const needs = { greedyBaseline: false, behaviorLogprobs: false, finalValues: false };
  const batch = readBatch(columnsFromTokens([{ steps: [step] }]), { temperature: 1, needs });
  const { actionTokens, tokenIds } = batch.tokens;
  const firstAction = actionTokens[0];
  const engine = {
    evaluate: () =>
      Promise.resolve({
        logprobs: Float32Array.from(tokenIds, (_, n) => LOGPROB + offBy(n - firstAction)),
        ...{ entropies: new Float32Array(tokenIds.length), values: null, sumSquaredProbabilities: null },
      }),
    ratioTolerance: 0.05,
    used: { kind: 'torch', version: '', device: '', numProcesses: 1, precision } as const,
  };
  return computeProximalLogprobs(engine, batch, {
    ...{ temperature: 1, updateNumber: 1, policyVersionIn: 2 },
    needs: { proximalLogprobs: true, squaredProbabilities: false },
  });
}

describe('logprobs of the policy that an update starts from', () => {
  const oneToken = (n: number) => (n === 7 ? 0.5 : 0.001);

  it('are refused where one token is off in 32 bits; in 16 bits where all are, in the mean', async () => {
    await expect(check('float32', oneToken)).rejects.toMatchObject({ code: 'NOT_ON_POLICY' });
    await expect(check('bfloat16', oneToken)).resolves.toMatchObject({
      ratioMaxDeviation: expect.closeTo(Math.expm1(0.5), 5) as number,
    });
    await expect(check('bfloat16', (n) => (n === 7 ? 9 : 0.001))).resolves.toBeDefined();
    await expect(check('bfloat16', () => 0.1)).rejects.toThrow(/of the tokens .* 1\.05e-1 in the mean/);
  });
});

describe('compareOnPolicy', () => {
  const batch = { behaviorLogprobs: Float32Array.of(-0.5), policyVersions: Int32Array.of(2) };
  const compared = Uint8Array.of(1);

  it('measures the ratio on tokens of the current version: e^0.1 − 1 for logprobs −0.4 against −0.5', () => {
    const { maxDeviation, meanDeviation } = compareOnPolicy(batch, Float32Array.of(-0.4), 2, compared);
    expect(maxDeviation).toBeCloseTo(Math.expm1(0.1), 6);
    expect(meanDeviation).toBe(maxDeviation);
  });

  it('is not available when another version sampled all tokens, or none was scored', () => {
    expect(compareOnPolicy(batch, Float32Array.of(-0.4), 3, compared).maxDeviation).toBeNaN();
    expect(compareOnPolicy(batch, Float32Array.of(-0.4), 2, new Uint8Array(1)).maxDeviation).toBeNaN();
  });
});
