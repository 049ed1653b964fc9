import { resolveRecipe } from '@retrace/config';
import { expect, it } from 'vitest';
import type { EpisodeColumns } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import { teachTokens } from './distillation.js';
import type { UpdateBatch } from './read-batch.js';

/** Three action tokens in a sequence of five; no policy sampled the last. */
const TOKENS = {
  tokenIds: new Int32Array(5),
  actionTokens: Int32Array.of(1, 2, 4),
} as UpdateBatch['tokens'];
const columns = {} as EpisodeColumns;
const UNTAUGHT = {
  batch: { tokens: TOKENS, sampled: Uint8Array.of(1, 1, 0) },
  trained: Uint8Array.of(1, 1, 1),
  correction: null,
  proximal: { logprobs: Float32Array.of(-0.5, -2, -1) },
  advantages: {
    advantages: Float32Array.of(10, 20, 30),
    statistics: [['rewardMean', 1]],
  } as unknown as TokenAdvantages,
};
const TEACHER = Float32Array.of(0, -1.5, -0.25, 0, -9);

/** Of the two tokens in between, at the positions of the sequence. */
const TOP = {
  rows: Int32Array.of(-1, 0, 1, -1, -1),
  ids: Int32Array.of(5, 6, 7, 8),
  logprobs: Float32Array.of(-1, -2, -3, -4),
};

const engine = {
  evaluateTeacher: (batch, { temperature, mask, topK }) => {
    expect([batch, temperature, mask]).toEqual([TOKENS, 0.75, Uint8Array.of(0, 1, 1, 0, 0)]);
    return Promise.resolve({ logprobs: TEACHER, top: topK === null ? null : { ...TOP, topK } });
  },
} as UpdateEngine;

function teach(recipeName: string, ...assignments: string[]) {
  const recipe = resolveRecipe(recipeName, { assignments: ['collection.temperature=0.75', ...assignments] });
  return teachTokens({ engine, recipe, columns }, UNTAUGHT);
}

it('teaching: an advantage is the log of how much likelier the token is for the teacher, and 0 where nothing was sampled', async () => {
  const { advantages, teacherLogprobs } = await teach('distillation');
  // −1.5 + 0.5 and −0.25 + 2
  expect(advantages.advantages).toEqual(Float32Array.of(-1, 1.75, 0));
  expect(teacherLogprobs).toEqual(Float32Array.of(-1.5, -0.25, -9));
  // The mean of 1 and −1.75.
  expect(advantages.statistics).toEqual([
    ['rewardMean', 1],
    ['teacherKl', -0.375],
  ]);
  expect((await teach('distillation', 'distillation.coefficient=2')).advantages.advantages).toEqual(
    Float32Array.of(-2, 3.5, 0),
  );
});

it('teaching: advantages of the rewards are added where the recipe says so', async () => {
  const { advantages } = await teach('distillation', 'distillation.withReward=true');
  expect(advantages.advantages).toEqual(Float32Array.of(9, 21.75, 30));
});

it('teaching: asks about the tokens that are trained and kept, and gives the others no advantage', async () => {
  const recipe = resolveRecipe('distillation', {});
  const asked: Uint8Array[] = [];
  const teacher = {
    read: ({ mask }: { readonly mask: Uint8Array }) => {
      asked.push(mask);
      return Promise.resolve({ logprobs: Float32Array.of(-1.5, mask[1] === 1 ? -0.25 : 0, 0), top: null });
    },
  };
  const inputs = { engine, recipe, columns, teacher };
  const untrained = { ...UNTAUGHT, trained: Uint8Array.of(1, 0, 1) };
  const { advantages } = await teachTokens(inputs, untrained);
  expect(advantages.advantages).toEqual(Float32Array.of(-1, 0, 0));
  expect(advantages.statistics.at(-1)).toEqual(['teacherKl', 1]);
  const rejected = { ...UNTAUGHT, correction: { keep: Uint8Array.of(0, 1, 1) } };
  expect((await teachTokens(inputs, rejected)).advantages.advantages).toEqual(Float32Array.of(0, 1.75, 0));
  expect(asked).toEqual([Uint8Array.of(1, 0, 0), Uint8Array.of(0, 1, 0)]);
});

it('teaching: a token that no step of the recorded update gave a weight has no advantage', async () => {
  const answer = { logprobs: Float32Array.of(-1.5, NaN, NaN), top: null };
  const teacher = { read: () => Promise.resolve(answer) };
  const recipe = resolveRecipe('distillation', {});
  const { advantages } = await teachTokens({ engine, recipe, columns, teacher }, UNTAUGHT);
  expect(advantages.advantages).toEqual(Float32Array.of(-1, 0, 0));
  expect(advantages.statistics.at(-1)).toEqual(['teacherKl', 1]);
});

it('teaching: advantages stay as they are without a teacher', async () => {
  expect(await teach('bandit-ppo')).toEqual({
    ...{ advantages: UNTAUGHT.advantages, teacherLogprobs: null, teacherTop: null },
  });
});

it('teaching: with the likeliest tokens the teacher is no part of the advantages, and these are known at the action tokens', async () => {
  const { advantages, teacherTop } = await teach('distillation', 'distillation.topK=2');
  expect(advantages.advantages).toEqual(Float32Array.of(0, 0, 0));
  expect(teacherTop).toEqual({ ...TOP, topK: 2, rows: Int32Array.of(0, 1, -1) });
  const added = await teach('distillation', 'distillation.topK=2', 'distillation.withReward=true');
  expect(added.advantages.advantages).toEqual(Float32Array.of(10, 20, 30));
});
