import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles, openPolicyCheckpoint } from '@retrace/policy';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

/* A run that starts from the policy of another: imitation first, then reinforcement learning in a run of its own. */

const small = [
  ...['collection.groupsPerRound=16', 'collection.concurrentEpisodes=16', 'optimizer.epochs=1'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.learningRate=0.01'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16'],
];
const IMITATION =
  'imitation={"agent":"expert","numEpisodes":32,"numUpdates":2,"episodesPerUpdate":16,"learningRate":0.01}';
const withoutCritic = [
  'loss.valueCoefficient=0',
  'advantage.estimator="reinforcePlusPlus"',
  'advantage.options={}',
];
const recipeOf = (numUpdates: number, ...settings: readonly string[]) =>
  resolveRecipe('bandit-ppo', { numUpdates, assignments: [...small, ...settings] });
const data = makeDataDirectory();
let run: InProcessRun;

afterAll(async () => {
  await run.close();
  data.remove();
});

describe('a run that starts from another one’s policy', () => {
  let source: { sha256: string; sizeBytes: number };
  let initFrom: string;

  beforeAll(async () => {
    await openBackend();
    run = await InProcessRun.begin(data.path, recipeOf(1, IMITATION, ...withoutCritic));
    await run.work();
    const updates = await run.updates();
    expect(updates).toHaveLength(3);
    const { policyVersionOut: policyVersion, weights } = updates[1];
    source = weights;
    const named = { runId: run.id, policyVersion, ...weights };
    initFrom = `initFrom=${JSON.stringify({ run: run.id, version: `${policyVersion}`, source: named })}`;
  });

  const firstWeights = async () => {
    const published = (await run.controlEvents()).flatMap((event) =>
      event.kind === 'PolicyPublished' ? [event.payload] : [],
    );
    return published[0].weights;
  };

  it('publishes exactly that policy first, trains it, resumes, and can be replayed as a whole', async () => {
    run = await run.beginAnother(recipeOf(3, initFrom, ...withoutCritic));
    await run.work({ untilUpdate: 1 });
    expect(await firstWeights()).toEqual(source);
    await run.work();
    const updates = await run.updates();
    expect(updates).toHaveLength(3);
    expect(updates[0].weights.sha256).not.toBe(source.sha256);
    expect(await run.replayAll()).toMatchObject({ numUpdates: 3, differing: [] });
  });

  it('keeps the initial weights of a critic that the other policy did not have', async () => {
    run = await run.beginAnother(recipeOf(2, initFrom));
    await run.work();
    const checkpoints = new CheckpointFiles(`${data.path}/checkpoints`);
    const [began, given] = [
      await openPolicyCheckpoint(checkpoints, await firstWeights()),
      await openPolicyCheckpoint(checkpoints, source),
    ];
    const [ofRun, ofSource] = [await began.exportTensors(), await given.exportTensors()];
    for (const [name, { data: values }] of ofSource) expect(ofRun.get(name)?.data).toEqual(values);
    expect([...ofRun.keys()].filter((name) => !ofSource.has(name)).length).toBeGreaterThan(0);
    expect(await run.replay(2)).toMatchObject({ sameWeights: true, lossDifference: 0 });
  });
});
