import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun, type UpdatePoint } from './support/in-process-run.js';

/*
 * A trainer that hangs (a paused machine, a partition of the network) while another takes its run over, and then goes on as if nothing had
 * happened. What it still writes comes after the other's claim, and must not count.
 */

const NUM_UPDATES = 4;
/** The update in which the first trainer hangs. */
const HANGS_AT = 2;
const SMALL = [
  ...['collection.groupsPerRound=8', 'collection.concurrentEpisodes=32', 'optimizer.learningRate=0.01'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'checkpoint.keepEvery=1'],
];
const recipeOf = (numUpdates: number, ...more: readonly string[]): Recipe =>
  resolveRecipe('memory-bandit-grpo', { numUpdates, assignments: [...SMALL, ...more] });

const POINTS = ['planning', 'planned', 'filesWritten'] as const;

let directory: string;
beforeAll(async () => {
  await openBackend();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-take-over-'));
});
afterEach(() => rm(directory, { recursive: true }));

/**
 * Trains with a trainer that hangs at that point of an update while a second one takes the run over. When the second has come to the same update,
 * but has not yet committed it, the first goes on to its end, and only then the second. Returns what became of the first.
 */
async function trainWithTakeOver(run: InProcessRun, at: UpdatePoint): Promise<unknown> {
  const [first, second] = [await run.openAgain(), await run.openAgain()];
  const trainers = new EventEmitter();
  const [hung, released] = [once(trainers, 'hung'), once(trainers, 'released')];
  const others = run.work({ roles: ['collector', 'validator'] });
  const ofFirst = first
    .work({
      roles: ['trainer'],
      onPoint: async (point, updateNumber) => {
        if (point !== at || updateNumber !== HANGS_AT) return;
        trainers.emit('hung');
        await released;
      },
    })
    .catch((error: unknown) => error);
  await hung;
  await second.work({
    roles: ['trainer'],
    onPoint: async (point, updateNumber) => {
      if (updateNumber !== HANGS_AT || point !== (at === 'planning' ? 'planning' : 'filesWritten')) return;
      trainers.emit('released');
      await ofFirst;
    },
  });
  await others;
  return ofFirst;
}

/** Holds what is true of every run that was taken over at that point. */
async function expectTakenOver(run: InProcessRun, at: UpdatePoint): Promise<void> {
  const { run: state, refused } = await run.folded();
  const { updates, ended } = state;
  const all = Array.from({ length: NUM_UPDATES }, (_, u) => u + 1);
  expect(updates.commits.map(({ updateNumber }) => updateNumber)).toEqual(all);
  expect(updates.pendingPlans).toEqual([]);
  expect(updates.claim?.epoch).toBe(1);
  expect(ended?.reason).toBe('finished');
  // What the first trainer wrote after the claim of the second.
  expect(refused.map(({ event: { kind }, reason }) => [kind, reason])).toEqual(
    [...(at === 'planning' ? ['BatchPlanned'] : []), 'UpdateApplied', 'PolicyPublished'].map((kind) => [
      kind,
      'staleEpoch',
    ]),
  );
  // The first trainer's commit of the update is in the log before the second one's, and is none.
  const commits = (await run.updates()).map(({ epoch, updateNumber }) => [epoch, updateNumber]);
  expect(commits).toEqual([[0, 1], [0, HANGS_AT], ...all.slice(HANGS_AT - 1).map((u) => [1, u])]);
  // A plan that was in the log in time is kept and redone; one that came late is none, and its update is planned again.
  const plans = (await run.plans()).map(({ epoch, updateNumber }) => [epoch, updateNumber]);
  const numOfFirst = at === 'planning' ? HANGS_AT - 1 : HANGS_AT;
  expect(plans).toEqual([[0, 1], [0, HANGS_AT], ...all.slice(numOfFirst).map((u) => [1, u])]);
}

const finalWeights = async (run: InProcessRun) => (await run.folded()).run.updates.lastUpdate?.weights.sha256;

async function undisturbed(recipe: Recipe): Promise<string | undefined> {
  const run = await InProcessRun.begin(join(directory, 'undisturbed'), recipe);
  await run.work();
  const weights = await finalWeights(run);
  await run.close();
  return weights;
}

describe('a run that is taken over while its trainer hangs', () => {
  it.each(POINTS)('ends with the weights of an undisturbed one: synchronous, %s', async (at) => {
    const recipe = recipeOf(NUM_UPDATES);
    const run = await InProcessRun.begin(join(directory, 'run'), recipe);
    expect(await trainWithTakeOver(run, at)).toMatchObject({ code: 'CLAIM_LOST' });
    await expectTakenOver(run, at);
    expect(await finalWeights(run)).toBe(await undisturbed(recipe));
    await run.close();
  });

  it.each(POINTS)('makes each planned batch exactly once: asynchronous, %s', async (at) => {
    const stale = [
      'collection.maxStaleness=2',
      'loss.rolloutCorrection={"importance":{"level":"token","cap":2}}',
    ];
    const run = await InProcessRun.begin(join(directory, 'run'), recipeOf(NUM_UPDATES, ...stale));
    expect(await trainWithTakeOver(run, at)).toMatchObject({ code: 'CLAIM_LOST' });
    await expectTakenOver(run, at);
    expect(await run.replayAll()).toMatchObject({ numUpdates: NUM_UPDATES, differing: [] });
    await run.close();
  });

  it.each(POINTS)('ends with the weights of an undisturbed one: on stored history, %s', async (at) => {
    const history = await InProcessRun.begin(join(directory, 'run'), recipeOf(2));
    await history.work();
    const contents = await history.trainingSet('history');
    const sources = [{ from: 'query', query: 'SELECT …', share: 1, contents }];
    const recipe = recipeOf(NUM_UPDATES, `data=${JSON.stringify({ sources })}`, 'sampler.rule=prioritized');
    const whole = await history.beginAnother(recipe);
    await whole.work();
    const run = await whole.beginAnother(recipe);
    expect(await trainWithTakeOver(run, at)).toMatchObject({ code: 'CLAIM_LOST' });
    await expectTakenOver(run, at);
    expect(await finalWeights(run)).toBe(await finalWeights(whole));
    await run.close();
  });
});
