import type { LossTerms, TrainingBatch } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import type { UpdateEngine } from '../../engine/update-engine.js';
import { makeOptimizerSteps, type StepOptions } from './optimizer-steps.js';
import { NEW_GUARD, StepGuard } from './step-guard.js';

const NO_TERMS = {
  ...{ loss: 0, policyLoss: 0, valueLoss: 0, entropy: 0, kl: 0, clipFraction: 0, valueClipFraction: 0 },
  ...{ approximateKl: 0, ratioMaxDeviation: 0, distillationLoss: 0, numTokens: 1 },
} satisfies LossTerms;

/** Answer of an engine to one step of an update. */
interface Answer {
  readonly loss?: number;
  readonly approximateKl?: number;
  readonly gradientNorm?: number;
}

/** Four sequences of two tokens, each a mini-batch, over two epochs; what was done to the engine, in order. */
async function makeSteps(answers: readonly Answer[], guard: StepGuard) {
  const calls: string[] = [];
  let answer = -1;
  const engine: Pick<UpdateEngine, 'accumulate' | 'step' | 'discard'> = {
    accumulate: (_: TrainingBatch) => {
      answer += 1;
      const { loss = 0.5, approximateKl = 0 } = answers[answer] ?? {};
      return Promise.resolve({ ...NO_TERMS, loss, approximateKl });
    },
    step: ({ skipNormAbove = Number.POSITIVE_INFINITY }) => {
      const gradientNorm = answers[answer]?.gradientNorm ?? 1;
      const isApplied = gradientNorm <= skipNormAbove;
      calls.push(isApplied ? `step ${gradientNorm}` : `skip ${gradientNorm}`);
      return Promise.resolve({ isApplied, gradientNorm, criticGradientNorm: null });
    },
    discard: () => {
      calls.push('discard');
      return Promise.resolve();
    },
  };
  const columns = {
    tokenIds: new Int32Array(8),
    sequenceOffsets: Int32Array.of(0, 2, 4, 6, 8),
    sequenceGroups: new Int32Array(4),
    sequenceCopies: null,
    actionTokens: Int32Array.of(1, 3, 5, 7),
    sequenceActionOffsets: Int32Array.of(0, 1, 2, 3, 4),
    trainedMask: new Uint8Array(4).fill(1),
    keptMask: null,
  };
  const options = {
    ...{ learningRate: 0.1, criticLearningRate: null, seed: 1, guard },
    loss: {} as StepOptions['loss'],
    optimizer: { epochs: 2, miniBatchActionTokens: 1, maxGradientNorm: 1 },
    aggregation: { aggregation: 'tokenMean', horizon: null, denominator: 'all' } as const,
  };
  return { calls, outcome: await makeOptimizerSteps(engine, columns, options) };
}

describe('the guard of optimizer steps', () => {
  it('without rules makes every step, and a loss that is not finite ends the update', async () => {
    const { outcome, calls } = await makeSteps([{ gradientNorm: 1e9 }], new StepGuard({}, NEW_GUARD));
    expect(outcome.numOptimizerSteps).toBe(8);
    expect(calls).not.toContain('discard');
    await expect(makeSteps([{ loss: NaN }], new StepGuard({}, NEW_GUARD))).rejects.toMatchObject({
      code: 'NON_FINITE_LOSS',
    });
  });

  it('ends the update before the step whose approximate KL is over the bound', async () => {
    const guard = new StepGuard({ maxApproximateKl: 0.02 }, NEW_GUARD);
    const { calls, outcome } = await makeSteps(
      [{}, { approximateKl: 0.02 }, { approximateKl: 0.021 }, {}],
      guard,
    );
    expect(calls).toEqual(['step 1', 'step 1', 'discard']);
    expect(outcome.numOptimizerSteps).toBe(2);
    expect(guard.warnings).toEqual([
      'the update stopped at epoch 0, mini-batch 2: the approximate KL 0.0210 is over 0.02',
    ]);
  });

  it('skips a loss and a norm that are not finite, and averages over the steps that were made', async () => {
    const guard = new StepGuard({ skipNonFinite: true }, NEW_GUARD);
    const { calls, outcome } = await makeSteps(
      [{ loss: NaN }, { gradientNorm: Infinity }, { gradientNorm: 3 }, { gradientNorm: 5 }],
      guard,
    );
    expect(calls.slice(0, 4)).toEqual(['discard', 'skip Infinity', 'step 3', 'step 5']);
    expect(outcome.numOptimizerSteps).toBe(6);
    expect(outcome.gradientNorm).toBeCloseTo((3 + 5 + 4 * 1) / 6, 12);
    expect(guard.warnings).toEqual([
      '2 optimizer steps were skipped, the first because its loss is NaN (epoch 0, mini-batch 0)',
    ]);
  });

  it('skips a norm over a multiple of the running mean, from the 21st step on', async () => {
    const rules = { spikeFactor: 3 };
    const first = new StepGuard(rules, { ...NEW_GUARD, numSteps: 19, meanGradientNorm: 1 });
    const { calls } = await makeSteps([{ gradientNorm: 2 }, { gradientNorm: 3.1 }], first);
    // The running mean is 0.99 · 1 + 0.01 · 2 = 1.01 then, and three times that is 3.03.
    expect(calls.slice(0, 2)).toEqual(['step 2', 'skip 3.1']);
    const early = new StepGuard(rules, { ...NEW_GUARD, numSteps: 10, meanGradientNorm: 1 });
    expect((await makeSteps([{ gradientNorm: 100 }], early)).calls[0]).toBe('step 100');
  });

  it('goes on from the recorded state as if the updates were one', async () => {
    const rules = { spikeFactor: 2 };
    const norms = Array.from({ length: 24 }, (_, i) => ({ gradientNorm: 1 + (i % 5) * 0.3 }));
    const whole = new StepGuard(rules, NEW_GUARD);
    let parts = NEW_GUARD;
    for (let update = 0; update < 3; update++) {
      const answers = norms.slice(8 * update, 8 * (update + 1));
      await makeSteps(answers, whole);
      const part = new StepGuard(rules, parts);
      await makeSteps(answers, part);
      parts = JSON.parse(JSON.stringify(part.state)) as typeof parts;
    }
    expect(parts).toEqual(whole.state);
  });

  it('ends the run when more steps in a row are skipped than the recipe allows', async () => {
    const guard = new StepGuard({ skipNonFinite: true, maxSkippedInARow: 3 }, NEW_GUARD);
    const answers = [{}, ...Array.from({ length: 4 }, () => ({ loss: NaN }))];
    await expect(makeSteps(answers, guard)).rejects.toMatchObject({ code: 'STEPS_SKIPPED' });
  });
});
