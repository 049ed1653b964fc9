import type { FileRef, SequenceBatch, TrainingBatch } from '@retrace/policy';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StepLoss, UpdateEngine } from './update-engine.js';

/** An implementation of `UpdateEngine` to try. */
interface EngineUnderTest {
  /** A new engine with a critic in the state that a run starts from, the same each time; all of them share one place for saved files. */
  readonly open: () => Promise<UpdateEngine>;
  /** The policy knows tokens 0 … vocabSize − 1. */
  readonly vocabSize: number;
  /** Whether equal calls give equal bits. */
  readonly isDeterministic: boolean;
  /** Of the steps (default 0.05). */
  readonly learningRate?: number;
  /** Duties that it refuses (default none); without `critic`, its policy has none. */
  readonly lacks?: readonly Lack[];
}

type Lack =
  | 'gradients'
  | 'critic'
  | 'entropy'
  | 'squaredProbabilities'
  | 'movingReference'
  | 'skippedSteps'
  | 'distillation';

const TEMPERATURE = 1;
const LEARNING_RATE = 0.05;

const CLIPPED: StepLoss = {
  policyLoss: 'ppo',
  policyLossOptions: { clipLow: 0.2, clipHigh: 0.2, dualClip: null },
  valueCoefficient: 0.5,
  valueClip: null,
  entropyCoefficient: 0.01,
  klCoefficient: 0.1,
  klEstimator: 'k3',
  klStraightThrough: false,
  temperature: TEMPERATURE,
};

/** The terms that an engine without a critic and without entropies can honour. */
const OF_LOGPROBS: StepLoss = { ...CLIPPED, valueCoefficient: 0, entropyCoefficient: 0 };

/** Only the policy's term, so that the loss is linear in the advantages. */
const POLICY_ONLY: StepLoss = { ...CLIPPED, valueCoefficient: 0, entropyCoefficient: 0, klCoefficient: 0 };

/** Checks the duties that `UpdateEngine` states. */
export function describeUpdateEngine(name: string, subject: EngineUnderTest): void {
  const STEP = { learningRate: subject.learningRate ?? LEARNING_RATE, maxGradientNorm: 1e6 };
  const lacks = (lack: Lack) => subject.lacks?.includes(lack) === true;
  const loss = lacks('critic') || lacks('entropy') ? OF_LOGPROBS : CLIPPED;

  describe(`UpdateEngine ${name}`, () => {
    const opened: UpdateEngine[] = [];
    let engine: UpdateEngine;

    const open = async () => {
      const made = await subject.open();
      opened.push(made);
      return made;
    };
    beforeEach(async () => {
      engine = await open();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((made) => made.close()));
    });

    /** Sequences of these lengths with tokens that follow from their places. */
    const sequencesOf = (...lengths: number[]): SequenceBatch => {
      const sequenceOffsets = Int32Array.from([0, ...lengths.map((_, s) => sum(lengths.slice(0, s + 1)))]);
      const tokenIds = Int32Array.from(
        { length: sum(lengths) },
        (_, n) => (3 + 7 * n + n * n) % subject.vocabSize,
      );
      return { tokenIds, sequenceOffsets };
    };
    const evaluate = (made: UpdateEngine, batch: SequenceBatch) =>
      made.evaluate(batch, { temperature: TEMPERATURE, mask: maskActions(batch) });
    /** Tokens with every column; the ratio is 1 and the reference is the policy itself, so the KL is 0. */
    const trainingBatch = async (batch: SequenceBatch, weight: number): Promise<TrainingBatch> => {
      const { logprobs, values } = await evaluate(engine, batch);
      const column = (of: (n: number) => number) => Float32Array.from(batch.tokenIds, (_, n) => of(n));
      return {
        ...batch,
        lossWeights: Float32Array.from(maskActions(batch), (bit) => weight * bit),
        advantages: column((n) => (n % 3) - 0.5),
        proximalLogprobs: logprobs,
        referenceLogprobs: logprobs,
        returns: column((n) => Math.sin(n)),
        proximalValues: values,
      };
    };
    const trainOnce = async (made: UpdateEngine, batch: TrainingBatch, by = loss) => {
      const terms = await made.accumulate(batch, by);
      return { terms, ...(await made.step(STEP)) };
    };
    const expectSame = (actual: Float32Array | null, expected: Float32Array | null, tolerance: number) => {
      expect(actual?.length).toBe(expected?.length);
      const differences = Array.from(expected ?? [], (value, n) => Math.abs(value - (actual?.[n] ?? NaN)));
      expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance);
    };
    const exactly = subject.isDeterministic ? 0 : 1e-3;

    it('evaluates each sequence by itself: a part of a batch has the numbers of the whole', async () => {
      const whole = sequencesOf(5, 3, 6);
      const [from, to] = [5, 8];
      const part = {
        tokenIds: whole.tokenIds.slice(from, to),
        sequenceOffsets: Int32Array.of(0, to - from),
      };
      const [ofWhole, ofPart] = [await evaluate(engine, whole), await evaluate(engine, part)];
      expect(ofWhole.logprobs.length).toBe(whole.tokenIds.length);
      expectSame(ofPart.logprobs, ofWhole.logprobs.slice(from, to), engine.ratioTolerance);
      expectSame(ofPart.values, ofWhole.values?.slice(from, to) ?? null, 1e-3);
    });

    it('evaluates a distribution: all tokens after a prefix have probabilities that add up to 1', async () => {
      const alternatives = Array.from({ length: subject.vocabSize }, (_, token) => [1, 2, token]);
      const batch = {
        tokenIds: Int32Array.from(alternatives.flat()),
        sequenceOffsets: Int32Array.from({ length: subject.vocabSize + 1 }, (_, s) => 3 * s),
      };
      const { logprobs, sumSquaredProbabilities } = await engine.evaluate(batch, {
        temperature: TEMPERATURE,
        mask: maskActions(batch),
        squaredProbabilities: !lacks('squaredProbabilities'),
      });
      const probabilities = alternatives.map((_, s) => Math.exp(logprobs[3 * s + 2]));
      expect(sum(probabilities)).toBeCloseTo(1, 3);
      if (lacks('squaredProbabilities')) return;
      const squares = sum(probabilities.map((probability) => probability ** 2));
      expect(sumSquaredProbabilities?.[2]).toBeCloseTo(squares, 3);
    });

    it.skipIf(lacks('critic'))('gives the value after each sequence, and 0 after an empty one', async () => {
      const values = await engine.evaluateEnds(sequencesOf(4, 0, 2));
      expect(values.length).toBe(3);
      expect(values[1]).toBe(0);
      expect(values.every(Number.isFinite)).toBe(true);
    });

    it('keeps weights and gradients unchanged through evaluations', async () => {
      const batch = sequencesOf(5, 4);
      const before = await evaluate(engine, batch);
      if (!lacks('critic')) await engine.evaluateEnds(batch);
      expectSame((await evaluate(engine, batch)).logprobs, before.logprobs, exactly);
      expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
      expectSame((await evaluate(engine, batch)).logprobs, before.logprobs, exactly);
    });

    it('sums Σ w·ℓ over batches: twice the weights, or the same batch twice, is twice the gradient', async () => {
      const batch = sequencesOf(5, 4, 6);
      const single = await trainingBatch(batch, 0.1);
      const norms = [];
      const initial = await engine.save();
      for (const batches of [[single], [await trainingBatch(batch, 0.2)], [single, single]]) {
        for (const part of batches) await engine.accumulate(part, POLICY_ONLY);
        norms.push((await engine.step(STEP)).gradientNorm);
        await engine.load(initial);
      }
      expect(norms[0]).toBeGreaterThan(0);
      expect(norms[1] / norms[0]).toBeCloseTo(2, 3);
      expect(norms[2] / norms[0]).toBeCloseTo(2, 3);
    });

    it('does not depend on how sequences are shared out over batches', async () => {
      const whole = await trainingBatch(sequencesOf(5, 4, 6), 0.1);
      const initial = await engine.save();
      const { terms, gradientNorm } = await trainOnce(engine, whole);
      await engine.load(initial);
      // One batch of the first sequence, and one of the other two: the rest has weight 0.
      const onlyIn = (from: number, to: number) => ({
        ...whole,
        lossWeights: whole.lossWeights.map((weight, n) => (n >= from && n < to ? weight : 0)),
      });
      const first = await engine.accumulate(onlyIn(0, 5), loss);
      const rest = await engine.accumulate(onlyIn(5, 15), loss);
      expect(first.loss + rest.loss).toBeCloseTo(terms.loss, 4);
      expect(first.numTokens + rest.numTokens).toBe(terms.numTokens);
      expect((await engine.step(STEP)).gradientNorm / gradientNorm).toBeCloseTo(1, 3);
    });

    it.skipIf(lacks('distillation'))(
      'comes to a teacher by its likeliest tokens, and refuses ids that the policy has not',
      async () => {
        const batch = await trainingBatch(sequencesOf(5, 4), 0.1);
        const rows = Int32Array.from(batch.tokenIds, (_, n) => (n % 4 === 0 ? -1 : n % 2));
        const logprobs = Float32Array.of(0.6, 0.3, 0.5, 0.4).map(Math.log);
        const teacherTop = { topK: 2, rows, ids: Int32Array.of(0, 1, 2, 3), logprobs };
        const distillation = { objective: 'forwardKl', coefficient: 1 } as const;
        const term = { ...POLICY_ONLY, distillation };
        const advantages = batch.lossWeights.map(() => 0);
        const losses: number[] = [];
        for (let step = 0; step < 8; step++) {
          const { terms } = await trainOnce(engine, { ...batch, advantages, teacherTop }, term);
          losses.push(terms.distillationLoss);
          expect(terms.loss).toBeCloseTo(terms.distillationLoss, 5);
        }
        expect(losses[7]).toBeLessThan(losses[0] / 2);
        const ids = Int32Array.of(0, 1, 2, subject.vocabSize);
        await expect(
          engine.accumulate({ ...batch, teacherTop: { ...teacherTop, ids } }, term),
        ).rejects.toThrow(/teacherTop\.ids\[\d\] is \d+, must be in 0/);
        expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
      },
    );

    it.skipIf(lacks('gradients'))(
      'gives the accumulated gradients, whose norm a step reports, and clears them',
      async () => {
        const batch = sequencesOf(5, 4, 6);
        const single = await trainingBatch(batch, 0.1);
        expect((await engine.takeGradients()).size).toBe(0);
        await engine.accumulate(single, POLICY_ONLY);
        const gradients = await engine.takeGradients();
        expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
        await engine.accumulate(single, POLICY_ONLY);
        await engine.accumulate(single, POLICY_ONLY);
        const twice = await engine.takeGradients();
        expect([...twice.keys()]).toEqual([...gradients.keys()]);
        const squares = (named: ReadonlyMap<string, Float32Array>) =>
          sum([...named.values()].map((values) => sum(values.map((value) => value ** 2))));
        expect(Math.sqrt(squares(twice) / squares(gradients))).toBeCloseTo(2, 3);
        await engine.accumulate(single, POLICY_ONLY);
        const { gradientNorm } = await engine.step(STEP);
        expect(Math.sqrt(squares(gradients)) / gradientNorm).toBeCloseTo(1, 3);
      },
    );

    it.runIf(lacks('gradients'))('refuses to hand out gradients, which stay accumulated', async () => {
      const single = await trainingBatch(sequencesOf(5, 4, 6), 0.1);
      const initial = await engine.save();
      const { gradientNorm } = await trainOnce(engine, single, POLICY_ONLY);
      await engine.load(initial);
      await engine.accumulate(single, POLICY_ONLY);
      await expect(engine.takeGradients()).rejects.toThrow();
      expect((await engine.step(STEP)).gradientNorm / gradientNorm).toBeCloseTo(1, 3);
    });

    it('makes tokens with a positive advantage more likely', async () => {
      const batch = sequencesOf(6);
      const before = await trainingBatch(batch, 0.2);
      const praised = { ...before, advantages: new Float32Array(6).fill(1) };
      await trainOnce(engine, praised, POLICY_ONLY);
      const { logprobs } = await evaluate(engine, batch);
      expect(sum(logprobs)).toBeGreaterThan(sum(before.proximalLogprobs ?? []));
    });

    it('drops what is accumulated when it is told to', async () => {
      const batch = sequencesOf(5, 4);
      await engine.accumulate(await trainingBatch(batch, 0.1), loss);
      await engine.discard();
      expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
    });

    it.skipIf(lacks('skippedSteps'))(
      'does not make a step whose norm is over the limit: weights and moments stay, nothing remains accumulated',
      async () => {
        const batch = sequencesOf(5, 4);
        const training = await trainingBatch(batch, 0.1);
        await trainOnce(engine, training);
        const saved = await engine.save();
        await engine.accumulate(training, loss);
        const skipped = await engine.step({ ...STEP, skipNormAbove: 1e-9 });
        expect(skipped.isApplied).toBe(false);
        expect(skipped.gradientNorm).toBeGreaterThan(1e-9);
        expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
        if (subject.isDeterministic) expect(await engine.save()).toEqual(saved);
        const made = await trainOnce(engine, training);
        expect(made).toMatchObject({ isApplied: true, gradientNorm: skipped.gradientNorm });
      },
    );

    it('refuses a loss that it does not know, with nothing accumulated', async () => {
      const batch = await trainingBatch(sequencesOf(5), 0.1);
      await expect(engine.accumulate(batch, { ...loss, policyLoss: 'noSuchLoss' })).rejects.toThrow();
      expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
    });

    it('continues from a saved state in another engine with the same results', async () => {
      const batch = sequencesOf(5, 4);
      await trainOnce(engine, await trainingBatch(batch, 0.1));
      const saved = await engine.save();
      const next = await trainingBatch(batch, 0.1);
      const other = await open();
      expect(other.modelHash).toBe(engine.modelHash);
      await other.load(saved);
      for (const made of [engine, other]) await trainOnce(made, next);
      const [expected, actual] = [await evaluate(engine, batch), await evaluate(other, batch)];
      expectSame(actual.logprobs, expected.logprobs, exactly);
      expectSame(actual.values, expected.values, exactly);
      if (subject.isDeterministic) expect(await other.save()).toEqual(await engine.save());
    });

    it('returns to a saved state, and drops what is accumulated', async () => {
      const batch = sequencesOf(5, 4);
      const before = await trainingBatch(batch, 0.1);
      const saved = await engine.save();
      await trainOnce(engine, before);
      await engine.accumulate(before, loss);
      await engine.load(saved);
      expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
      expectSame((await evaluate(engine, batch)).logprobs, before.proximalLogprobs ?? null, exactly);
    });

    it('stays as it was when a file of a state is missing', async () => {
      const batch = sequencesOf(5);
      const before = await trainingBatch(batch, 0.1);
      const { weights, optimizer } = await engine.save();
      await trainOnce(engine, before);
      const { logprobs } = await evaluate(engine, batch);
      const missing: FileRef = { ...optimizer, sha256: '0'.repeat(64) };
      await expect(engine.load({ weights, optimizer: missing })).rejects.toThrow();
      await expect(engine.load({ weights: missing, optimizer })).rejects.toThrow();
      expectSame((await evaluate(engine, batch)).logprobs, logprobs, exactly);
    });

    it('evaluates saved weights as they were, whatever was trained since', async () => {
      const batch = sequencesOf(5, 4);
      const before = await trainingBatch(batch, 0.1);
      const policy = { weights: await engine.saveWeights(), location: engine.location };
      await trainOnce(engine, before);
      const options = { temperature: TEMPERATURE, mask: maskActions(batch) };
      const reference = await engine.evaluateReference(policy, batch, options);
      expectSame(reference, before.proximalLogprobs ?? null, engine.ratioTolerance);
      expect((await evaluate(engine, batch)).logprobs).not.toEqual(reference);
    });

    it.runIf(subject.lacks)('refuses what it lacks, with nothing changed', async () => {
      const batch = sequencesOf(5, 4);
      const training = await trainingBatch(batch, 0.1);
      const options = { temperature: TEMPERATURE, mask: maskActions(batch) };
      const distillation = { objective: 'forwardKl', coefficient: 1 } as const;
      const rows = new Int32Array(batch.tokenIds.length);
      const teacherTop = { topK: 1, rows, ids: Int32Array.of(0), logprobs: Float32Array.of(-1) };
      const asked: Readonly<Record<Lack, () => Promise<unknown>>> = {
        gradients: () => engine.takeGradients(),
        critic: () => engine.accumulate(training, { ...loss, valueCoefficient: 0.5 }),
        entropy: () => engine.accumulate(training, { ...loss, entropyCoefficient: 0.01 }),
        squaredProbabilities: () => engine.evaluate(batch, { ...options, squaredProbabilities: true }),
        movingReference: () => engine.evaluateMovingReference(batch, options),
        skippedSteps: () => engine.step({ ...STEP, skipNormAbove: 1 }),
        distillation: () => engine.accumulate({ ...training, teacherTop }, { ...loss, distillation }),
      };
      for (const lack of subject.lacks ?? []) await expect(asked[lack]()).rejects.toThrow();
      expect(await engine.step(STEP)).toMatchObject({ gradientNorm: 0 });
      expectSame((await evaluate(engine, batch)).logprobs, training.proximalLogprobs ?? null, exactly);
    });

    it.skipIf(lacks('movingReference'))(
      'moves its reference from the weights where it began towards the current ones, and saves it with its state',
      async () => {
        const batch = sequencesOf(5, 4);
        const options = { temperature: TEMPERATURE, mask: maskActions(batch) };
        const reference = () => engine.evaluateMovingReference(batch, options);
        const without = await engine.save();
        const start = await reference();
        expectSame(start, (await evaluate(engine, batch)).logprobs, engine.ratioTolerance);
        await trainOnce(engine, await trainingBatch(batch, 0.1));
        await engine.moveReference(1);
        expectSame(await reference(), start, exactly);
        await engine.moveReference(0.5);
        const halfway = await reference();
        expect(halfway).not.toEqual(start);
        const saved = await engine.save();
        await engine.moveReference(0);
        expectSame(await reference(), (await evaluate(engine, batch)).logprobs, engine.ratioTolerance);
        await engine.load(saved);
        expectSame(await reference(), halfway, exactly);
        await engine.load(without);
        expectSame(await reference(), (await evaluate(engine, batch)).logprobs, engine.ratioTolerance);
      },
    );
  });
}

/** [N] 1 for all tokens but the first of each sequence, which nothing predicts. */
function maskActions({ tokenIds, sequenceOffsets }: SequenceBatch): Uint8Array {
  const starts = new Set(sequenceOffsets);
  return Uint8Array.from(tokenIds, (_, n) => Number(!starts.has(n)));
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
