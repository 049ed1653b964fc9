import { resolveRecipe } from '@retrace/config';
import type { CheckpointFiles } from '@retrace/policy';
import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { expect, it } from 'vitest';
import { recipeOfStart, requireStart } from './start-request.js';

const FOREIGN = '01936d00-0000-7000-8000-00000000000c';
const PARTIAL = '01936d00-0000-7000-8000-00000000000d';

const RUN = '01936d00-0000-7000-8000-00000000000a';
const RECORDED = '01936d00-0000-7000-8000-00000000000b';
const recipe = resolveRecipe('bandit-ppo', {
  assignments: [
    'optimizer.learningRate=0.002',
    'imitation={"agent":"expert","numUpdates":3,"numEpisodes":8,"episodesPerUpdate":4,"learningRate":0.001}',
  ],
});
const state = new ControlFold();

function append<K extends ControlEventKind>(runId: string, kind: K, payload: Partial<PayloadOf<K>>): void {
  const event = controlEvent({ logId: '', runId }, kind, payload);
  expect(state.apply(event as AnyEvent, state.nextOffset)).toEqual({ applied: true });
}

append(RUN, 'RunStarted', { name: recipe.name, recipe: JSON.parse(JSON.stringify(recipe)) as never });
append(RUN, 'TrainerClaimed', { epoch: 0 });
const weights = ['a', 'b'].map((digit) => ({ sha256: digit.repeat(64), sizeBytes: 8 }));
append(RUN, 'PolicyPublished', { policyVersion: 0, parentVersion: null, epoch: 0, weights: weights[0] });
append(RUN, 'PolicyPublished', { policyVersion: 1, parentVersion: 0, epoch: 0, weights: weights[1] });
append(FOREIGN, 'RunStarted', {
  name: recipe.name,
  recipe: {
    ...(JSON.parse(JSON.stringify(recipe)) as object),
    environment: { module: '/tmp/evil.mjs' },
  } as never,
});
append(PARTIAL, 'RunStarted', { name: 'played', recipe: { policy: 'random' } as never });
append(RECORDED, 'RunStarted', { name: 'agents', runKind: 'recorded', recipe: null });

// The weights of version 0 are not kept any more.
const stored = {
  settings: () => [],
  readState: () => Promise.resolve(state),
  checkpoints: { list: () => Promise.resolve([weights[1]]) } as unknown as CheckpointFiles,
};

it('a fork has the recipe of its run without the imitation, the policy asked for, and the fields that were changed', async () => {
  const start = {
    ...{ recipe: `run:${RUN}`, initFrom: `run:${RUN}@1`, seed: 9, numUpdates: 4 },
    overrides: { 'optimizer.epochs': 2 },
  };
  const { recipe: fork } = await requireStart(start, stored);
  const { imitation, ...others } = recipe;
  expect(imitation).not.toBeNull();
  expect(fork).toEqual({
    ...{ ...others, imitation: null, seed: 9, numUpdates: 4, initFrom: { run: RUN, version: '1' } },
    optimizer: { ...recipe.optimizer, epochs: 2 },
  });
  expect(await recipeOfStart(start, stored)).toEqual(fork);
});

it('a run without a policy to start from begins as its run did, with the imitation', async () => {
  expect((await requireStart({ recipe: `run:${RUN}` }, stored)).recipe).toEqual(recipe);
});

it('keeps the whole id of a run that is named by a part of it', async () => {
  const { start } = await requireStart({ recipe: 'run:0000000a', seed: 2 }, stored);
  expect(start).toEqual({ recipe: `run:${RUN}`, seed: 2 });
});

it('reads no log for a built-in recipe, nor for a policy of a run that may wait too', async () => {
  const unread = { ...stored, readState: () => Promise.reject(new Error('read')) };
  for (const initFrom of [undefined, 'run:latest', 'run:frozen-lake-ppo@best'])
    expect((await requireStart({ recipe: 'bandit-ppo', initFrom }, unread)).recipe.name).toBe('bandit-ppo');
});

it.each([
  [{ recipe: 'run:0000000e' }, 'recipe: got "run:0000000e", run "0000000e" not found'],
  [{ recipe: `run:${RECORDED}` }, `recipe: got "run:${RECORDED}", the run must be one that was trained`],
  [{ recipe: `run:${PARTIAL}` }, 'the run must be one that was trained, with a whole recipe'],
  [
    { recipe: `run:${FOREIGN}` },
    `recipe: got "run:${FOREIGN}", environment.module: got "/tmp/evil.mjs", must be as in a built-in recipe`,
  ],
  [{ recipe: 'run:latest' }, 'recipe: got "run:latest", must name a run by its id'],
  [
    { recipe: `run:${RUN}`, initFrom: `run:${RUN}@0` },
    `initFrom: got "run:${RUN}@0", policy 0 of run ${RUN}: its weights are not kept`,
  ],
  [{ recipe: 'bandit-ppo', initFrom: `run:${RUN}@7` }, `initFrom: got "run:${RUN}@7", policy 7 of run`],
  [{ recipe: 'run:../evil' }, 'recipe: got "run:../evil", must be one of the built-in recipes'],
  [
    { recipe: `run:${RUN}`, initFrom: `run:${RUN}@7` },
    `initFrom: got "run:${RUN}@7", policy 7 of run ${RUN} does not exist; the run has versions 0 … 1`,
  ],
  [{ recipe: `run:${RUN}`, overrides: { 'engine.kind': 'torch' } }, 'overrides.engine.kind: got "torch"'],
  [{ recipe: `run:${RUN}`, overrides: { 'optimizer.learningRate': 2 } }, 'optimizer.learningRate: got 2'],
])('refuses %j, naming the field', async (start, message) => {
  await expect(requireStart(start, stored)).rejects.toThrow(message);
});
