import { resolveRecipe } from '@retrace/config';
import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { expect, it } from 'vitest';
import { recipeOfStart, requireStart } from './start-request.js';

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
append(RUN, 'PolicyPublished', { policyVersion: 0, parentVersion: null, epoch: 0 });
append(RECORDED, 'RunStarted', { name: 'agents', runKind: 'recorded', recipe: null });

const readState = () => Promise.resolve(state);

it('a fork has the recipe of its run without the imitation, the policy asked for, and the fields that were changed', async () => {
  const start = {
    ...{ recipe: `run:${RUN}`, initFrom: `run:${RUN}@0`, seed: 9, numUpdates: 4 },
    overrides: { 'optimizer.epochs': 2 },
  };
  const fork = await requireStart(start, readState);
  const { imitation, ...others } = recipe;
  expect(imitation).not.toBeNull();
  expect(fork).toEqual({
    ...{ ...others, imitation: null, seed: 9, numUpdates: 4, initFrom: { run: RUN, version: '0' } },
    optimizer: { ...recipe.optimizer, epochs: 2 },
  });
  expect(await recipeOfStart(start, readState)).toEqual(fork);
});

it('reads no log for a built-in recipe', async () => {
  const unread = () => Promise.reject(new Error('read'));
  expect((await requireStart({ recipe: 'bandit-ppo' }, unread)).name).toBe('bandit-ppo');
});

it.each([
  [{ recipe: 'run:0000000c' }, 'recipe: got "run:0000000c", run "0000000c" not found'],
  [{ recipe: `run:${RECORDED}` }, `recipe: got "run:${RECORDED}", the run must be one that was trained here`],
  [{ recipe: 'run:../evil' }, 'recipe: got "run:../evil", must be one of the built-in recipes'],
  [
    { recipe: `run:${RUN}`, initFrom: `run:${RUN}@7` },
    `initFrom: got "run:${RUN}@7", policy 7 of run ${RUN} does not exist; the run has versions 0 … 0`,
  ],
  [{ recipe: `run:${RUN}`, overrides: { 'engine.kind': 'torch' } }, 'overrides.engine.kind: got "torch"'],
  [{ recipe: `run:${RUN}`, overrides: { 'optimizer.learningRate': 2 } }, 'optimizer.learningRate: got 2'],
])('refuses %j, naming the field', async (start, message) => {
  await expect(requireStart(start, readState)).rejects.toThrow(message);
});
