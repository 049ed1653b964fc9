import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePlainRecipe, resolveRecipe, type Recipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { ratioDifference } from '@retrace/algorithms/sampling';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun } from '../support/in-process-run.js';

const GROUPS = 8;
const assignments = [
  'evaluation.everyUpdates=0',
  'evaluation.numTestEpisodes=0',
  `collection.groupsPerRound=${GROUPS}`,
  'collection.concurrentEpisodes=16',
  'model.hiddenSize=16',
  'model.numLayers=1',
];

function recipeOf(numUpdates: number, ...more: readonly string[]): Recipe {
  return resolveRecipe('frozen-lake-grpo', { numUpdates, assignments: [...assignments, ...more] });
}

const finalWeights = async (run: InProcessRun) => (await run.updates()).at(-1)?.weights.sha256;

beforeAll(async () => {
  await openBackend();
});

describe('training on the history of another run', () => {
  let directory: string;
  let history: InProcessRun;
  let contents: Awaited<ReturnType<InProcessRun['trainingSet']>>;
  let last: InProcessRun;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-history-'));
    history = await InProcessRun.begin(directory, recipeOf(3));
    await history.work();
    contents = await history.trainingSet('history');
    last = history;
  });
  afterAll(async () => {
    await last.close();
    rmSync(directory, { recursive: true });
  });

  /** A run with these sources; `stored` is the history. */
  const begin = async (numUpdates: number, sources: readonly object[], ...more: readonly string[]) => {
    const recipe = recipeOf(numUpdates, `data=${JSON.stringify({ sources })}`, ...more);
    return (last = await last.beginAnother(recipe));
  };
  const stored = (share = 1) => ({ from: 'query', query: 'SELECT …', share, contents });

  it('needs no collector, names the other run in each plan, and ends by itself', async () => {
    const run = await begin(4, [stored()]);
    await run.work();
    expect(await run.updates()).toHaveLength(4);
    const plans = await run.plans();
    // Three rounds of eight groups: the fourth update begins again with the first groups.
    expect(plans.map(({ groupRows }) => [...(groupRows ?? [])])).toEqual([
      [0, 1, 2, 3, 4, 5, 6, 7],
      [8, 9, 10, 11, 12, 13, 14, 15],
      [16, 17, 18, 19, 20, 21, 22, 23],
      [0, 1, 2, 3, 4, 5, 6, 7],
    ]);
    for (const plan of plans) {
      expect(plan.runIds).toEqual([history.id]);
      expect([...(plan.groupRuns ?? [])]).toEqual(new Array<number>(GROUPS).fill(1));
      expect(plan.episodeIds).toHaveLength(GROUPS * 4);
    }
    const kinds = (await run.controlEvents()).map(({ kind }) => kind);
    expect(kinds).not.toContain('GroupsClosed');
    expect(kinds.at(-1)).toBe('RunEnded');
  });

  it('moves the policy away from the one that it began with, by ratios to the recorded logprobs', async () => {
    const run = await begin(2, [stored()]);
    await run.work();
    const [first] = await run.updates();
    const metrics = new Map(first.metricNames.map((name, i) => [name, first.metricValues[i]]));
    expect(metrics.get('data/numStoredGroups')).toBe(GROUPS);
    expect(metrics.get('train/gradientNorm')).toBeGreaterThan(0);
    // No token of another run counts as one of this policy, though the numbers of their versions agree.
    expect(metrics.has('train/ratioMaxDeviation')).toBe(false);
    expect(metrics.get('train/stalenessMax')).toBe(0);
    const replayed = await run.replay(2);
    expect(replayed).toMatchObject({ lossDifference: 0, sameWeights: true });
  });

  const sameAfterKill = 'ends with the same weights after a kill as without one, by the rule %s';
  const endsAlike = async (rule: string) => {
    const sampler = `sampler.rule=${rule}`;
    const whole = await begin(4, [stored()], sampler);
    await whole.work();
    const weights = await finalWeights(whole);
    const rows = (await whole.plans()).map(({ groupRows }) => [...(groupRows ?? [])]);
    const killed = await begin(4, [stored()], sampler);
    await killed.work({ untilUpdate: 2 });
    expect(await killed.updates()).toHaveLength(2);
    await killed.work();
    expect((await killed.plans()).map(({ groupRows }) => [...(groupRows ?? [])])).toEqual(rows);
    expect(await finalWeights(killed)).toBe(weights);
  };
  it.each(['prioritized'])(sameAfterKill, endsAlike);
  it.each(['fifo', 'newest', 'uniform'])(sameAfterKill, { tags: 'release' }, endsAlike);

  it('draws by the priorities that commits record, with importance weights of at most 1', async () => {
    const run = await begin(4, [stored()], 'sampler.rule=prioritized', 'sampler.importanceExponent=1');
    await run.work();
    const updates = await run.updates();
    for (const { groupPriorities } of updates) expect(groupPriorities).toHaveLength(GROUPS);
    const weights = (await run.plans()).map(({ groupWeights }) => [...(groupWeights ?? [])]);
    // At first all priorities are equal, later they are not.
    expect(weights[0]).toEqual(new Array<number>(GROUPS).fill(1));
    for (const ofUpdate of weights) expect(Math.max(...ofUpdate)).toBe(1);
    expect(new Set(weights[3]).size).toBeGreaterThan(1);
  });

  it('ends the run when no group may be sampled once more', async () => {
    const run = await begin(9, [stored()], 'sampler.rule=uniform', 'sampler.maxTimesSampled=1');
    await run.work();
    expect(await run.updates()).toHaveLength(3);
    const ended = (await run.controlEvents()).at(-1);
    expect(ended).toMatchObject({
      kind: 'RunEnded',
      payload: {
        reason: 'finished',
        detail: 'data.sources.0 has 0 groups left that may be sampled, and an update takes 8 of it',
      },
    });
    const rows = (await run.plans()).flatMap(({ groupRows }) => [...(groupRows ?? [])]);
    expect(new Set(rows).size).toBe(24);
  });

  it('replaces groups without variance, and names them as sampled', async () => {
    const sampler = 'sampler={"rule":"fifo","zeroVariance":"resample"}';
    const run = await begin(2, [stored()], sampler);
    await run.work();
    const [plans, updates] = [await run.plans(), await run.updates()];
    let numLeftOut = 0;
    for (const [u, plan] of plans.entries()) {
      const rewards = updates[u].episodeRewards ?? [];
      const groups = [...new Set(plan.episodeGroups)];
      expect(groups).toHaveLength(GROUPS);
      for (const g of groups) {
        const ofGroup = [...rewards].filter((_, e) => plan.episodeGroups?.[e] === g);
        expect(ofGroup).toHaveLength(4);
        expect(new Set(ofGroup).size).toBeGreaterThan(1);
      }
      numLeftOut += plan.groupIds.length - groups.length;
    }
    expect(numLeftOut).toBeGreaterThan(0);
  });

  it(
    'leaves groups without variance out, where nothing is to replace them',
    { tags: 'release' },
    async () => {
      const run = await begin(2, [stored()], 'sampler={"rule":"fifo","zeroVariance":"drop"}');
      await run.work();
      for (const { episodeGroups, groupIds } of await run.plans()) {
        expect(groupIds).toHaveLength(GROUPS);
        expect(new Set(episodeGroups).size).toBeLessThan(GROUPS);
      }
    },
  );

  /** Demonstrations of the expert, which all succeed and have no logprobs, as a source of data. */
  const demonstrationSource = async () => {
    const imitation = { agent: 'expert', numEpisodes: 256, numUpdates: 1, episodesPerUpdate: 256 };
    const teacher = await last.beginAnother(
      recipeOf(1, `imitation=${JSON.stringify({ ...imitation, learningRate: 1e-6 })}`),
    );
    await teacher.work();
    last = teacher;
    const demonstrations = await teacher.trainingSet('demonstrations', 'demonstrations');
    expect(demonstrations.numEpisodes).toBe(256);
    return { from: 'query', query: 'SELECT …', share: 1, contents: demonstrations };
  };

  const learnsFrom = 'learns by --algorithm %s from demonstrations that all succeed and have no logprobs';
  const learnsBy = async (algorithm: string) => {
    const source = await demonstrationSource();
    const imitating = ['collection.groupsPerRound=64', 'optimizer.learningRate=0.01', 'sampler.rule=uniform'];
    const own = recipeOf(6, `data=${JSON.stringify({ sources: [source] })}`, ...imitating);
    const run = await last.beginAnother(resolvePlainRecipe(own, { algorithm }));
    last = run;
    await run.work();
    const metric = async (name: string) =>
      (await run.updates()).map(({ metricNames, metricValues }) => metricValues[metricNames.indexOf(name)]);
    const learned = await metric('train/numLearnedTokens');
    expect(learned).toEqual(await metric('train/numActionTokens'));
    const losses = await metric('train/policyLoss');
    expect(losses[5]).toBeLessThan(losses[0] - 0.1);
    expect(await run.replay(6)).toMatchObject({ sameWeights: true });
  };
  it.each(['filtered-imitation'])(learnsFrom, learnsBy);
  it.each(['best-of-n'])(learnsFrom, { tags: 'release' }, learnsBy);

  it('refuses episodes without logprobs where a policy gradient needs them', async () => {
    const source = await demonstrationSource();
    const gradient = await begin(1, [source], 'collection.groupsPerRound=64');
    await expect(gradient.work()).rejects.toMatchObject({ code: 'UNACCOUNTED_LOGPROBS' });
  });

  it('mixes sources by their shares, exactly in each update', { tags: 'release' }, async () => {
    const run = await begin(3, [{ from: 'own', share: 1 }, stored(3)]);
    await run.work();
    for (const plan of await run.plans()) {
      expect([...(plan.groupSources ?? [])]).toEqual([0, 0, 1, 1, 1, 1, 1, 1]);
      expect([...(plan.groupRuns ?? [])]).toEqual([0, 0, 1, 1, 1, 1, 1, 1]);
    }
    // The collector plays two groups a round, no more.
    const closed = (await run.controlEvents()).flatMap((event) =>
      event.kind === 'GroupsClosed' ? [event.payload.groupIds.length] : [],
    );
    expect(closed).toEqual([2, 2, 2]);
    // Its fresh tokens are still checked against the policy that sampled them.
    const [first] = await run.updates();
    const deviation = first.metricValues[first.metricNames.indexOf('train/ratioMaxDeviation')];
    expect(deviation).toBeLessThan(1e-3);
  });
});

describe('sampling among the likeliest tokens', () => {
  it('is recorded with each step, stays within them, and imitation trains on it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-likeliest-'));
    const recipe = resolvePlainRecipe(recipeOf(2), {
      algorithm: 'best-of-n',
      assignments: ['collection.topK=3'],
    });
    const run = await InProcessRun.begin(directory, recipe);
    await run.work();
    const updates = await run.updates();
    const steps = (await run.episodeEvents()).flatMap((event) =>
      event.kind === 'StepRecorded' ? [event.payload] : [],
    );
    await run.close();
    rmSync(directory, { recursive: true });
    expect(updates).toHaveLength(2);
    for (const { metricNames, metricValues } of updates)
      expect(metricValues[metricNames.indexOf('train/gradientNorm')]).toBeGreaterThan(0);
    const sampled = steps.filter(({ sampling }) => sampling !== null);
    expect(sampled.length).toBeGreaterThan(0);
    for (const { sampling } of sampled) expect(sampling).toMatchObject({ topK: 3, topP: 1, greedy: false });
    // At first every context gives nearly the same distribution: three tokens hold all that is sampled of 40 and more.
    const first = new Set(
      sampled.filter(({ tokenPolicyVersions: [, version] }) => version === 0).map(({ action }) => action),
    );
    expect(first.size).toBeLessThan(12);
  });
});

describe('sampling from what a run collects', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-sampling-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('goes on collecting until an update has its number of groups with variance', async () => {
    const run = await InProcessRun.begin(
      directory,
      recipeOf(2, 'sampler={"rule":"fifo","zeroVariance":"resample","maxResamplings":50}'),
    );
    await run.work();
    const [plans, updates] = [await run.plans(), await run.updates()];
    expect(updates).toHaveLength(2);
    for (const [u, plan] of plans.entries()) {
      expect(plan.groupIds).toHaveLength(GROUPS);
      const rewards = updates[u].episodeRewards ?? [];
      for (let g = 0; g < GROUPS; g++) {
        const ofGroup = [...rewards].filter((_, e) => plan.episodeGroups?.[e] === g);
        expect(new Set(ofGroup).size).toBeGreaterThan(1);
      }
    }
    const discarded = (await run.controlEvents()).flatMap((event) =>
      event.kind === 'GroupsDiscarded' && event.payload.reason === 'zeroVariance'
        ? event.payload.groupIds
        : [],
    );
    expect(discarded.length).toBeGreaterThan(0);
    const trained = new Set(plans.flatMap(({ groupIds }) => groupIds));
    expect(discarded.filter((groupId) => trained.has(groupId))).toEqual([]);
    await run.close();
  });

  it(
    'holds the ratio of samples to inserts within its bounds, and says in the log who waits',
    { tags: 'release' },
    async () => {
      const limiter = { samplesPerInsert: 2, minDiff: 0, maxDiff: 24 };
      const sampler = { rule: 'uniform', maxTimesSampled: 4, limiter };
      const run = await InProcessRun.begin(
        directory,
        recipeOf(6, 'collection.maxStaleness=8', `sampler=${JSON.stringify(sampler)}`),
      );
      await run.work();
      let counts = { numInserted: 0, numSampled: 0 };
      const blocked = new Set<string>();
      for (const event of await run.controlEvents()) {
        if (event.kind === 'GroupsClosed')
          counts = { ...counts, numInserted: counts.numInserted + event.payload.groupIds.length };
        if (event.kind === 'BatchPlanned')
          counts = { ...counts, numSampled: counts.numSampled + event.payload.groupIds.length };
        if (event.kind === 'SamplingBlocked') blocked.add(event.payload.side);
        const difference = ratioDifference(counts, limiter);
        expect(difference).toBeGreaterThanOrEqual(limiter.minDiff);
        expect(difference).toBeLessThanOrEqual(limiter.maxDiff);
      }
      expect(counts.numSampled).toBe(6 * GROUPS);
      expect(blocked.has('collector')).toBe(true);
      await run.close();
    },
  );
});
