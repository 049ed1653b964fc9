import { onEachBackend } from '@retrace/compute/testing';
import { describe, expect, it } from 'vitest';
import { ShardedOptimizer } from '../data-parallel/sharded-optimizer.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { selectTeacherTop, type TeacherTop } from '../logprobs/teacher-top.js';
import { Transformer } from '../model/transformer.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { EVERY_TERM } from '../testing/loss-options.js';
import { randomBatch, seededRandom } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { evaluateLoss } from './evaluate-loss.js';
import type { LossOptions } from './loss-options.js';
import { validateTrainingBatch, type TrainingBatch } from './training-batch.js';

const { vocabSize } = TINY_CONFIG;
const batch = randomBatch([6, 9, 4, 0, 8], { vocabSize, actionShare: 0.6, seed: 3 });
const mask = Uint8Array.from(batch.lossWeights, (weight) => Number(weight !== 0));
/** Only the distillation: an advantage of 0 leaves nothing of PPO. */
const ONLY: LossOptions = {
  ...EVERY_TERM,
  ...{ valueCoefficient: 0, entropyCoefficient: 0, klCoefficient: 0 },
  distillation: { objective: 'forwardKl', coefficient: 2 },
};
const taught = (teacherTop: TeacherTop) => ({
  ...{ ...batch, teacherTop, proximalLogprobs: batch.proximalLogprobs },
  advantages: batch.lossWeights.map(() => 0),
});
const asked = { temperature: ONLY.temperature, maxTokensPerMicroBatch: 12, actionMask: mask };

describe('the distillation term', () => {
  const random = seededRandom(4);
  const positions = Int32Array.of(1, 2, 4, 5);
  const teacherTop: TeacherTop = {
    topK: 2,
    rows: batch.tokenIds.map((_, n) => (n === 4 ? -1 : n % 3)),
    ids: Int32Array.of(0, 1, 2, 3, 4, 5),
    logprobs: Float32Array.from({ length: 6 }, () => -1 - random()),
  };
  const outputs = {
    ...{ logprobs: Float32Array.of(-1, -1, -1, -1), entropies: new Float32Array(4), values: null },
    topLogprobs: Float32Array.from({ length: 8 }, () => -1 - random()),
  };
  const inBatch = { ...taught(teacherTop), lossWeights: batch.lossWeights.map(() => 0.25) };
  const trained = { positions, offsets: Int32Array.of(0, 4) };

  it.each(['forwardKl', 'reverseKl'] as const)(
    '%s: has the derivatives that finite differences give, with importance weights, and none at a token without a teacher',
    (objective) => {
      const options = { ...ONLY, distillation: { objective, coefficient: 2 } };
      const lossAt = (topLogprobs: Float32Array) =>
        evaluateLoss({ ...outputs, topLogprobs }, inBatch, trained, options).sums;
      const { gradients, sums } = evaluateLoss(outputs, inBatch, trained, options);
      outputs.topLogprobs.forEach((_, i) => {
        const [above, below] = [outputs.topLogprobs.slice(), outputs.topLogprobs.slice()];
        above[i] += 1e-3;
        below[i] -= 1e-3;
        const slope = (lossAt(above).loss - lossAt(below).loss) / (above[i] - below[i]);
        expect(Math.abs((gradients.topLogprobs?.[i] ?? NaN) - slope)).toBeLessThan(1e-4);
        if (i === 4 || i === 5) expect(gradients.topLogprobs?.[i]).toBe(0);
      });
      expect(sums.loss).toBeCloseTo(2 * sums.distillationLoss, 6);
    },
  );

  it('refuses tables that contradict the batch', () => {
    const selected = selectTeacherTop(teacherTop, Int32Array.of(2, -1, 0, 2));
    expect(selected).toMatchObject({
      rows: Int32Array.of(0, -1, 1, 0),
      ids: Int32Array.of(4, 5, 0, 1),
    });
    const check = (checked: TrainingBatch) => () => validateTrainingBatch(checked, ONLY, TINY_CONFIG);
    expect(check(taught(selected))).toThrow('teacherTop.rows has 4 entries, must have 27');
    const ids = teacherTop.ids.map((id) => id + 99);
    expect(check(taught({ ...teacherTop, ids }))).toThrow(/teacherTop\.ids\[0\] is 99, must be in 0 …/);
    expect(check({ ...batch, teacherTop: null })).toThrow('teacherTop is null');
  });
});

await onEachBackend('a teacher over its likeliest ids', () => {
  it('is read with its ids in order, whose probabilities are those of the tokens', async () => {
    const teacher = Transformer.initialize(TINY_CONFIG, 2);
    const { logprobs, likeliest } = await evaluateLogprobs(teacher, batch, { ...asked, topK: vocabSize });
    const { rows, ids, logprobs: ofIds } = likeliest as TeacherTop;
    mask.forEach((isAsked, n) => {
      expect(rows[n] >= 0).toBe(isAsked === 1);
      if (isAsked === 0) return;
      const row = [rows[n] * vocabSize, (rows[n] + 1) * vocabSize] as const;
      const at = [...ids.subarray(...row)].indexOf(batch.tokenIds[n]);
      expect(ofIds[row[0] + at]).toBeCloseTo(logprobs[n], 5);
      expect([...ofIds.subarray(...row)]).toEqual([...ofIds.subarray(...row)].sort((a, b) => b - a));
      expect(ofIds.subarray(...row).reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
    });
    const few = await evaluateLogprobs(teacher, batch, { ...asked, topK: 3, vocabSize: 4 });
    expect(few.likeliest?.ids.every((id) => id < 4)).toBe(true);
    const place = ids.subarray(0, vocabSize).indexOf(few.likeliest?.ids[0] ?? -1);
    expect(few.likeliest?.logprobs[0]).toBeCloseTo(ofIds[place], 5);
    const again = await evaluateLogprobs(teacher, batch, { ...asked, teacherTop: likeliest });
    mask.forEach((isAsked, n) => {
      for (let i = 0; isAsked === 1 && i < vocabSize; i++)
        expect(again.topLogprobs?.[n * vocabSize + i]).toBeCloseTo(ofIds[rows[n] * vocabSize + i], 5);
    });
    teacher.dispose();
  });

  it('is what a policy comes to: the KL is 0 at its own weights, and falls from others', async () => {
    const [teacher, policy] = [2, 1].map((seed) => Transformer.initialize(TINY_CONFIG, seed));
    const { likeliest } = await evaluateLogprobs(teacher, batch, { ...asked, topK: 3 });
    const adamW = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 };
    const lossOf = async (optimizer: PolicyOptimizer) =>
      (await optimizer.accumulate(taught(likeliest as TeacherTop), ONLY)).loss;
    const own = new PolicyOptimizer(teacher, adamW);
    expect(Math.abs(await lossOf(own))).toBeLessThan(1e-5);
    const optimizer = new PolicyOptimizer(policy, adamW);
    const losses: number[] = [];
    for (let step = 0; step < 40; step++) {
      losses.push(await lossOf(optimizer));
      await optimizer.apply({ learningRate: 0.02, maxGradientNorm: 10 });
    }
    expect(losses.at(-1)).toBeLessThan(losses[0] / 5);
    await lossOf(optimizer);
    const whole = await optimizer.takeNamedGradients();
    const sharded = new ShardedOptimizer(policy, optimizer, { numShards: 2, workers: null });
    await sharded.accumulate(taught(likeliest as TeacherTop), ONLY);
    for (const [key, gradient] of await optimizer.takeNamedGradients())
      gradient.forEach((value, i) => {
        expect(Math.abs(value - (whole.get(key)?.[i] ?? NaN)), key).toBeLessThan(1e-6);
      });
    own.dispose();
    optimizer.dispose();
    teacher.dispose();
    policy.dispose();
  });
});
