import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import type { AnyEvent } from '@retrace/trajectory';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectedEnd, LATE_TEXT } from './support/chaos-environment.mjs';
import { InProcessRun } from './support/in-process-run.js';

const NUM_UPDATES = 4;
const assignments = [
  'environment=chaos',
  'collection.concurrentEpisodes=12',
  'evaluation.everyUpdates=0',
  'evaluation.numTestEpisodes=0',
];

/** Groups of four, eight a round, unless `collection` says otherwise. */
function recipeWith(collection: Partial<Recipe['collection']> = {}, name = 'frozen-lake-grpo'): Recipe {
  const base = resolveRecipe(name, { numUpdates: NUM_UPDATES, assignments });
  const small = { groupsPerRound: 8, groupSize: 4, resetTimeoutMs: 100, stepTimeoutMs: 100 };
  return { ...base, collection: { ...base.collection, ...small, ...collection } };
}

function episodesOf(events: readonly AnyEvent[]) {
  const started = events.flatMap((event) => (event.kind === 'EpisodeStarted' ? [event] : []));
  const ends = new Map(
    events.flatMap((event) => (event.kind === 'EpisodeEnded' ? [[event.episodeId, event.payload]] : [])),
  );
  return started.map(({ episodeId, payload }) => ({ ...payload, ended: ends.get(episodeId) }));
}

describe('a run in an environment that throws, hangs and answers nonsense', () => {
  let directory: string;
  beforeAll(async () => {
    await openBackend();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-chaos-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('makes every update, and ends each episode with its reason and its steps', async () => {
    const run = await InProcessRun.begin(directory, recipeWith());
    await run.work();
    expect(await run.updates()).toHaveLength(NUM_UPDATES);
    const events = await run.episodeEvents();
    const episodes = episodesOf(events);
    expect(episodes).toHaveLength(NUM_UPDATES * 8 * 4);
    const faults = new Set<string | null>();
    for (const { environmentSeed: seed, groupMember: member, ended } of episodes) {
      const { fault, detail, numSteps } = expectedEnd({ seed: seed ?? 0, member });
      expect(ended?.endDetail, `${fault}`).toMatch(detail);
      expect(ended, `${fault}`).toMatchObject({
        endReason: fault === null ? 'terminated' : 'truncated',
        numSteps,
        ...(fault === null ? {} : { success: false }),
      });
      faults.add(fault);
    }
    expect(faults.size).toBeGreaterThan(10);
    const observations = events.flatMap((e) => (e.kind === 'StepRecorded' ? [e.payload.observation] : []));
    expect(observations).not.toContain(LATE_TEXT);
    await run.close();
  });

  it('warns of each way in which the environment failed, with how often', { tags: 'release' }, async () => {
    const run = await InProcessRun.begin(directory, recipeWith());
    const shown: string[] = [];
    await run.work({ onWarning: (line) => shown.push(line) });
    const faults = new Map<string, number>();
    for (const { ended } of episodesOf(await run.episodeEvents())) {
      const failure = /^environment failed: (.*)$/.exec(ended?.endDetail ?? '')?.[1];
      if (failure !== undefined) faults.set(failure, (faults.get(failure) ?? 0) + 1);
    }
    expect(faults.size).toBeGreaterThan(8);
    const warnings = (await run.warnings()).filter(({ source }) => source === 'collector');
    for (const [failure, count] of faults) {
      const counts = warnings.flatMap(({ message, numTimes }) =>
        message === `environment "chaos" failed: ${failure}` ? [numTimes] : [],
      );
      expect(Math.max(...counts), failure).toBe(2 ** Math.floor(Math.log2(count)));
    }
    expect(shown.join('\n')).toMatch(/^round 3: environment "chaos" failed: .* \(4 times so far\)$/m);
    await run.close();
  });

  it('cuts the texts of an answer to what the largest event of the log holds', async () => {
    const maxEventBytes = 80_000;
    const run = await InProcessRun.begin(directory, recipeWith(), { maxEventBytes });
    await run.work({ untilUpdate: 2 });
    const events = await run.episodeEvents();
    const details = episodesOf(events).map(({ ended }) => ended?.endDetail);
    expect(details).toContainEqual(
      expect.stringMatching(/^environment failed: its observation can't be tokenized: word "x+…$/),
    );
    for (const event of events) expect(JSON.stringify(event).length).toBeLessThan(maxEventBytes);
    await run.close();
  });

  it('imitates only the demonstrations whose environment did not fail', async () => {
    const imitation = {
      agent: 'random',
      numEpisodes: 32,
      numUpdates: 1,
      episodesPerUpdate: 32,
      learningRate: 1e-3,
    };
    const run = await InProcessRun.begin(directory, { ...recipeWith(), imitation });
    await run.work({ untilUpdate: 1 });
    const [{ metricNames, metricValues }] = await run.updates();
    const events = await run.episodeEvents();
    const counted = episodesOf(events).filter(({ agent }) => agent === 'random');
    const wholeOnes = counted.filter(({ ended }) => ended?.endReason === 'terminated');
    expect([counted.length, wholeOnes.length < 32]).toEqual([32, true]);
    expect(metricValues[metricNames.indexOf('train/numLearnedTokens')]).toBe(
      wholeOnes.reduce((sum, { ended }) => sum + (ended?.numActionTokens ?? NaN), 0),
    );
    await run.close();
  });

  it('leaves the episodes whose environment failed out of its updates', async () => {
    const run = await InProcessRun.begin(directory, recipeWith());
    await run.work({ untilUpdate: 1 });
    const [update] = await run.updates();
    const rewards = [...(update.episodeRewards ?? [])];
    const faults = episodesOf(await run.episodeEvents())
      .slice(0, rewards.length)
      .map(
        ({ environmentSeed: seed, groupMember: member }) => expectedEnd({ seed: seed ?? 0, member }).fault,
      );
    expect(rewards.map(Number.isNaN)).toEqual(faults.map((fault) => fault !== null));
    await run.close();
  });

  it('makes an update of groups in which nobody came to act', { tags: 'release' }, async () => {
    const single = recipeWith({ groupsPerRound: 1, groupSize: 1 }, 'bandit-ppo');
    const run = await InProcessRun.begin(directory, { ...single, numUpdates: 24 });
    await run.work();
    expect(await run.updates()).toHaveLength(24);
    const withoutSteps = episodesOf(await run.episodeEvents()).filter(({ ended }) => ended?.numSteps === 0);
    expect(withoutSteps.length).toBeGreaterThan(0);
    await run.close();
  });

  it('ends with a sentence once the environment has failed so many times in a row', async () => {
    const run = await InProcessRun.begin(directory, recipeWith({ maxFailuresInARow: 2 }));
    await expect(run.work()).rejects.toThrow(
      /^environment "chaos" failed in 2 episodes in a row \(collection\.maxFailuresInARow\), last because .+; mend it/,
    );
    await run.close();
  });
});
