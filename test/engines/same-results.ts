import type { EngineRecipe, Recipe } from '@retrace/config';
import type { CheckpointFiles, FileRef } from '@retrace/policy';
import { readPlanColumns } from '@retrace/store';
import type { EvaluatedTokens, UpdateEngine } from '@retrace/trainer';
import { expect } from 'vitest';
import { Replayer } from '../../apps/trainer/src/replay/replayer.js';
import { pairTensors } from '../../apps/trainer/src/replay/tensor-pairs.js';
import { evaluateActions } from '../../apps/trainer/src/update/action-tokens.js';
import { readBatch } from '../../apps/trainer/src/update/read-batch.js';
import { InProcessRun } from '../support/in-process-run.js';
import type { Worker } from './torch.js';

type OpenedFile = Awaited<ReturnType<CheckpointFiles['open']>>;

const LOGPROB_TOLERANCE = 2e-5;
const VALUE_TOLERANCE = 1e-4;
const WEIGHT_TOLERANCE = 1e-4;
export const NUM_UPDATES = 3;

/**
 * Records three updates with TensorFlow.js, and expects each worker to make them again from the same stored batches: what it then evaluates, and its
 * weights, are equal up to rounding.
 *
 * @param path of the run's directory, which is made
 * @param engine fields of the recipe's section `engine` beside the worker's address
 */
export async function expectSameUpdates(
  path: string,
  recipe: Recipe,
  workers: readonly Worker[],
  engineFields: Partial<EngineRecipe> = {},
): Promise<void> {
  const run = await InProcessRun.begin(path, recipe);
  await run.work({ untilUpdate: NUM_UPDATES });
  const replayer = await Replayer.open(run.source);
  const { commit, plan } = replayer.update(NUM_UPDATES);
  const columns = await readPlanColumns(run.source.reader, plan, run.id);
  const needs = { greedyBaseline: false, behaviorLogprobs: false, finalValues: false };
  const { tokens, sampled: mask } = readBatch(columns, { ...recipe.collection, needs });
  const evaluate = (engine: UpdateEngine) =>
    evaluateActions(engine, tokens, {
      temperature: recipe.collection.temperature,
      mask,
      squaredProbabilities: true,
    });
  await replayer.engine.load(commit);
  const expected = await evaluate(replayer.engine);
  const { vocabSize } = run.text.tokenizer;
  const { checkpoints } = run.source;
  for (const worker of workers) {
    const section = { ...worker.section, ...engineFields };
    const engine = await worker.open(recipe, checkpoints, vocabSize, section);
    for (let n = 1; n <= NUM_UPDATES; n++) await replayer.makeAgain(n, { engine });
    const made = await engine.saveWeights();
    await engine.load(commit);
    expectSameView(await evaluate(engine), expected);
    await expectSameWeights(checkpoints, made, commit.weights);
    await engine.close();
  }
  await replayer.close();
  await run.close();
}

/** Expects what two engines evaluate to be equal up to rounding. */
export function expectSameView(actual: EvaluatedTokens, expected: EvaluatedTokens): void {
  expect(largestDifference(actual.logprobs, expected.logprobs)).toBeLessThanOrEqual(LOGPROB_TOLERANCE);
  expect(largestDifference(actual.entropies, expected.entropies)).toBeLessThanOrEqual(LOGPROB_TOLERANCE);
  expect(actual.values === null).toBe(expected.values === null);
  if (expected.values && actual.values)
    expect(largestDifference(actual.values, expected.values)).toBeLessThanOrEqual(VALUE_TOLERANCE);
}

/** Expects weights of two engines to be equal up to rounding. */
export async function expectSameWeights(
  checkpoints: CheckpointFiles,
  made: FileRef,
  wanted: FileRef,
): Promise<void> {
  expect(await weightDifference(checkpoints, made, wanted)).toBeLessThanOrEqual(WEIGHT_TOLERANCE);
}

/** Largest over the tensors of ‖torch − expected‖ / ‖expected‖. */
async function weightDifference(
  checkpoints: CheckpointFiles,
  ofTorch: FileRef,
  expected: FileRef,
): Promise<number> {
  const made = await checkpoints.open(ofTorch);
  try {
    const wanted = await checkpoints.open(expected);
    try {
      return await largestTensorDifference(made, wanted);
    } finally {
      await wanted.close();
    }
  } finally {
    await made.close();
  }
}

async function largestTensorDifference(made: OpenedFile, wanted: OpenedFile): Promise<number> {
  const pairs = pairTensors(wanted, made);
  if (pairs === null) throw new Error('the engines have tensors of other names or shapes');
  let largest = 0;
  for await (const { a, b } of pairs)
    largest = Math.max(largest, norm(a.map((value, i) => value - b[i])) / norm(a));
  return largest;
}

function norm(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
}

function largestDifference(actual: Float32Array, expected: Float32Array): number {
  expect(actual.length).toBe(expected.length);
  return expected.reduce((max, value, n) => Math.max(max, Math.abs(value - actual[n])), 0);
}
