import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

/* What a recipe can name beyond PPO and GRPO: trained by collector and trainer on a log, then replayed. */

const small = [
  ...['collection.groupsPerRound=8', 'collection.concurrentEpisodes=16', 'optimizer.learningRate=0.01'],
  ...['optimizer.epochs=1', 'evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16'],
];
const fewTurns = ['collection.groupsPerRound=4', 'collection.groupSize=3'];
const withoutCritic = ['loss.valueCoefficient=0', 'reward.allocation=lastToken'];
const advantage = (estimator: string, options = {}) => `advantage=${JSON.stringify({ estimator, options })}`;

interface Case {
  readonly recipe: string;
  readonly settings: readonly string[];
  /** Metrics that the last update must have, not all of them 0 over the run. */
  readonly shows?: readonly string[];
  /** Metrics that no update has. */
  readonly lacks?: readonly string[];
}

const stale = ['collection.maxStaleness=1', 'optimizer.epochs=2', 'optimizer.learningRate=0.03'];
const cases: Record<string, Case> = {
  'token importance weights and rejection': {
    recipe: 'bandit-ppo',
    settings: [
      ...stale,
      `loss.rolloutCorrection=${JSON.stringify({
        importance: { level: 'token', cap: 2 },
        rejection: [{ statistic: 'k1', scope: 'token', low: 0.999, high: 1.5 }],
      })}`,
    ],
    shows: ['correction/klK3', 'correction/rejectedFraction', 'correction/staleness1'],
  },
  'geometric weights with a floor, normalised, and a veto': {
    recipe: 'bandit-ppo',
    settings: [
      ...stale,
      `loss.rolloutCorrection=${JSON.stringify({
        importance: { level: 'geometric', cap: 2, floor: 0.5, normalize: true },
        rejection: [{ statistic: 'k3', scope: 'sequenceMax', high: 0.5 }],
        vetoBelow: 0.0001,
        denominator: 'kept',
      })}`,
    ],
    shows: ['correction/chiSquareSequence', 'correction/maxRawWeight'],
  },
  'rejection alone, against the policy that sampled': {
    recipe: 'bandit-ppo',
    settings: [
      ...stale,
      'loss.rolloutCorrection={"proximal":"behavior","rejection":[{"statistic":"k2","scope":"sequenceSum","high":0.001}]}',
    ],
    shows: ['correction/klK3'],
  },
  'V-trace': { recipe: 'bandit-ppo', settings: [...stale, advantage('vtrace')], shows: ['correction/klK3'] },
  'the optimal token baseline, with importance weights': {
    recipe: 'memory-bandit-grpo',
    settings: [
      ...fewTurns,
      ...withoutCritic,
      advantage('optimalTokenBaseline'),
      'loss.rolloutCorrection={"importance":{"level":"token","cap":2}}',
    ],
  },
  ReMax: { recipe: 'bandit-ppo', settings: [...withoutCritic, advantage('remax')] },
  'role baselines': { recipe: 'bandit-ppo', settings: [...withoutCritic, advantage('rae', { decay: 0.5 })] },
  'n-step returns and a straight-through KL': {
    recipe: 'memory-bandit-grpo',
    settings: [
      ...fewTurns,
      'loss.valueCoefficient=0.5',
      advantage('nStep', { numSteps: 2 }),
      ...['loss.kl.coefficient=0.1', 'loss.kl.estimator=k1', 'loss.kl.straightThrough=true'],
    ],
    shows: ['train/kl', 'train/valueLoss', 'train/explainedVariance'],
  },
  'an adaptive KL coefficient in the loss': {
    recipe: 'bandit-ppo',
    settings: ['loss.kl.coefficient=0.1', 'loss.kl.adaptive={"target":0.001,"horizon":16}'],
    shows: ['train/klCoefficient', 'train/kl'],
  },
  'an adaptive KL coefficient in the reward': {
    recipe: 'bandit-ppo',
    settings: [
      'loss.kl.coefficient=0.1',
      'loss.kl.in=reward',
      'loss.kl.adaptive={"target":0.001,"horizon":16}',
    ],
    shows: ['train/klCoefficient', 'train/kl'],
  },
  'a bias-corrected KL in the loss': {
    recipe: 'bandit-ppo',
    settings: [...stale, 'loss.kl.coefficient=0.1', 'loss.kl.biasCorrection=true'],
    shows: ['train/kl'],
  },
  'a guard of the steps, a floor under the entropy and a cosine': {
    recipe: 'bandit-ppo',
    settings: [
      ...['optimizer.epochs=4', 'optimizer.schedule=cosine', 'optimizer.decayStartFraction=0.02'],
      'optimizer.guard={"maxApproximateKl":0.0001,"skipNonFinite":true,"spikeFactor":1.5}',
      'loss.entropyFloor={"target":5,"change":0.001}',
    ],
    shows: ['train/isStoppedEarly', 'train/entropyCoefficient'],
  },
  VESPO: {
    recipe: 'memory-bandit-grpo',
    settings: [...fewTurns, 'loss.policyLoss=vespo', 'loss.aggregation=tokenMean'],
  },
  'SAPO by sequences, on the tokens of the highest entropy': {
    recipe: 'memory-bandit-grpo',
    settings: [...fewTurns, 'loss.policyLoss=sapoSequence', 'loss.topEntropyFraction=0.5'],
  },
  'decoupled PPO with an interpolated proximal policy': {
    recipe: 'memory-bandit-grpo',
    settings: [
      ...fewTurns,
      ...stale,
      'loss.policyLoss=decoupledPpo',
      'loss.rolloutCorrection={"proximal":"interpolated"}',
    ],
    shows: ['train/approximateKl'],
  },
  'episodes drawn again by their returns': {
    recipe: 'bandit-ppo',
    settings: ['advantage.resampling={"rule":"power"}'],
    shows: ['train/numDistinctEpisodes'],
  },
  'sums of sequences over a fixed horizon': {
    recipe: 'memory-bandit-grpo',
    settings: [...fewTurns, 'loss.aggregation=sequenceMeanTokenSumNorm', 'loss.horizon=8'],
  },
  'means of groups': {
    recipe: 'memory-bandit-grpo',
    settings: [...fewTurns, 'loss.aggregation=groupMeanTokenMean'],
    shows: ['train/numGroups'],
    lacks: ['train/valueLoss', 'train/explainedVariance', 'train/kl'],
  },
};

const directory = makeDataDirectory();
const opened: InProcessRun[] = [];
beforeAll(async () => {
  await openBackend();
});
afterAll(async () => {
  await Promise.all(opened.map((run) => run.close()));
  directory.remove();
});

async function begin(name: string, { recipe, settings }: Case, numUpdates = 3): Promise<InProcessRun> {
  const resolved = resolveRecipe(recipe, { numUpdates, assignments: [...small, ...settings] });
  const run = await InProcessRun.begin(`${directory.path}/${name.replaceAll(/\W+/g, '-')}`, resolved);
  opened.push(run);
  return run;
}

describe('a recipe trains and replays', () => {
  const trainsAndReplays = async (name: string, given: Case) => {
    const run = await begin(name, given);
    await run.work();
    const updates = await run.updates();
    expect(updates).toHaveLength(3);
    const seen = new Map<string, number>();
    for (const { metricNames, metricValues } of updates) {
      const metrics = new Map(metricNames.map((metric, i) => [metric, metricValues[i]]));
      expect(metrics.get('train/loss')).toSatisfy(Number.isFinite);
      for (const metric of given.lacks ?? []) expect(metrics.keys()).not.toContain(metric);
      for (const metric of given.shows ?? []) {
        expect(metrics.get(metric), metric).toSatisfy(Number.isFinite);
        seen.set(metric, Math.max(seen.get(metric) ?? 0, Math.abs(metrics.get(metric) ?? 0)));
      }
    }
    for (const [metric, largest] of seen) expect(largest, metric).toBeGreaterThan(0);
    const replayed = await run.replay(3);
    expect(replayed.lossDifference).toBeLessThan(1e-6);
    expect(replayed.sameWeights).toBe(true);
  };
  /** One for each mechanism; a release trains all. */
  const ofLanding = [
    'token importance weights and rejection',
    'the optimal token baseline, with importance weights',
    'n-step returns and a straight-through KL',
    'an adaptive KL coefficient in the loss',
    'a guard of the steps, a floor under the entropy and a cosine',
    'SAPO by sequences, on the tokens of the highest entropy',
    'decoupled PPO with an interpolated proximal policy',
    'means of groups',
  ];
  const others = Object.keys(cases).filter((name) => !ofLanding.includes(name));
  const named = (names: readonly string[]) => names.map((name) => [name, cases[name]] as const);
  it.each(named(ofLanding))('%s', trainsAndReplays);
  it.each(named(others))('%s', { tags: 'release' }, trainsAndReplays);
});

describe('what updates hand on', () => {
  const goesOn = 'is in the log, so that a trainer that was stopped goes on as one that was not (%s)';
  const goesOnAlike = async (name: string) => {
    const whole = await begin(`${name} whole`, cases[name], 4);
    await whole.work();
    const parted = await begin(`${name} parted`, cases[name], 4);
    await parted.work({ untilUpdate: 2 });
    expect((await parted.updates()).length).toBeLessThan(4);
    await parted.work();
    const [expected, actual] = [await whole.updates(), await parted.updates()];
    expect(actual.map(({ trainerState }) => trainerState)).toEqual(
      expected.map(({ trainerState }) => trainerState),
    );
    expect(new Set(actual.map(({ trainerState }) => JSON.stringify(trainerState))).size).toBe(4);
    expect(actual.at(-1)?.weights).toEqual(expected.at(-1)?.weights);
  };
  it.each(['an adaptive KL coefficient in the reward'])(goesOn, goesOnAlike);
  it.each(['role baselines', 'a guard of the steps, a floor under the entropy and a cosine'])(
    goesOn,
    { tags: 'release' },
    goesOnAlike,
  );

  it('is b ← ½b + ½·(mean return) for role baselines that halve, from 0', async () => {
    const run = await begin('halving', cases['role baselines']);
    await run.work();
    let baseline = 0;
    for (const { episodeRewards, trainerState } of await run.updates()) {
      const totals = [...(episodeRewards ?? [])];
      baseline = 0.5 * baseline + (0.5 * totals.reduce((sum, total) => sum + total, 0)) / totals.length;
      const { roleBaselines } = trainerState as { roleBaselines: Record<string, number> };
      expect(Object.keys(roleBaselines)).toEqual(['bandit']);
      expect(roleBaselines.bandit).toBeCloseTo(baseline, 6);
    }
  });
});

describe('weights and rejections', () => {
  it.each([
    ['importance weights next to 0', '{"importance":{"level":"token","cap":1e-9}}'],
    ['a rule that nothing passes', '{"rejection":[{"statistic":"k1","scope":"token","low":8,"high":9}]}'],
  ])('reach the gradient: there is next to none with %s', async (name, correction) => {
    const plain = [...fewTurns, 'loss.entropyCoefficient=0'];
    const gradientNorm = async (settings: readonly string[]) => {
      const run = await begin(`${name} ${settings.length}`, { recipe: 'memory-bandit-grpo', settings }, 1);
      await run.work();
      const [{ metricNames, metricValues }] = await run.updates();
      return metricValues[metricNames.indexOf('train/gradientNorm')];
    };
    expect(await gradientNorm(plain)).toBeGreaterThan(1e-4);
    expect(await gradientNorm([...plain, `loss.rolloutCorrection=${correction}`])).toBeLessThan(1e-7);
  });
});

describe('a moving reference', () => {
  const settings = [
    ...['loss.kl.coefficient=0.5', 'loss.referenceDecay=0.5', 'optimizer.learningRate=0.03'],
    'checkpoint={"weights":{"keepLast":1,"keepBest":0,"keepEvery":4},"keepLast":2,"keepEvery":4}',
  ];
  const moving = { recipe: 'bandit-ppo', settings };

  it('is part of the state: a trainer that was stopped goes on with it, and replays find it again', async () => {
    const whole = await begin('moving whole', moving, 6);
    await whole.work();
    const parted = await begin('moving parted', moving, 6);
    await parted.work({ untilUpdate: 3 });
    await parted.work();
    const states = (updates: Awaited<ReturnType<typeof whole.updates>>) =>
      updates.map(({ weights, optimizer }) => [weights.sha256, optimizer.sha256]);
    expect(states(await parted.updates())).toEqual(states(await whole.updates()));
    const exact = { lossDifference: 0, sameWeights: true, firstInexact: null };
    // Update 3 after those since the start, update 6 from the kept state 5.
    expect(await parted.replay(3)).toMatchObject({ ...exact, beganAfter: 0 });
    expect(await parted.replay(6)).toMatchObject({ ...exact, beganAfter: 5 });
    expect(await parted.replayAll()).toMatchObject({ numUpdates: 6, differing: [] });
  });

  it('has at the second update the KL of a policy halfway, so other updates than a fixed one', async () => {
    const kl = async (decay: string) => {
      const run = await begin(
        `moving ${decay}`,
        { ...moving, settings: [...settings, `loss.referenceDecay=${decay}`] },
        3,
      );
      await run.work();
      return (await run.updates()).map(
        ({ metricNames, metricValues }) => metricValues[metricNames.indexOf('train/kl')],
      );
    };
    const [fixed, never, halfway, always] = [await kl('null'), await kl('1'), await kl('0.5'), await kl('0')];
    expect(never).toEqual(fixed);
    for (const other of [halfway, always]) expect(other[0]).toBe(fixed[0]);
    // The nearer the reference follows, the smaller is the distance from it.
    expect(halfway[2]).toBeLessThan(fixed[2]);
    expect(always[2]).toBeLessThan(halfway[2]);
  });
});

describe('an update whose checkpoint is not kept', () => {
  it('is replayed with the same bits from the nearest one before it, and nothing is stored for that', async () => {
    const settings = [
      'checkpoint={"weights":{"keepLast":1,"keepBest":0,"keepEvery":3},"keepLast":2,"keepEvery":3}',
    ];
    const run = await begin('replayed forward', { recipe: 'bandit-ppo', settings }, 8);
    await run.work();
    const files = await run.checkpointNames();
    // Optimizer states 3, 6, 7, 8 and as many weights, with those of version 0.
    expect(files).toHaveLength(4 + 5);
    const exact = { lossDifference: 0, sameWeights: true, firstInexact: null };
    expect(await run.replay(2)).toMatchObject({ ...exact, beganAfter: 0 });
    expect(await run.replay(6)).toMatchObject({ ...exact, beganAfter: 3 });
    expect(await run.replay(8)).toMatchObject({ ...exact, beganAfter: 7 });
    expect(await run.checkpointNames()).toEqual(files);
  });
});

describe('a batch in which every reward is missing', () => {
  it('trains nothing, says so, and neither commits nor replays a NaN', async () => {
    const settings = [
      'reward.components=[{"reward":"environment","sources":["elsewhere"]}]',
      ...['loss.kl.coefficient=0.1', 'loss.kl.adaptive={"target":0.001,"horizon":16}'],
    ];
    const run = await begin('nothing to train', { recipe: 'bandit-ppo', settings }, 2);
    const said: string[] = [];
    await run.work({ onWarning: (line) => said.push(line) });
    const updates = await run.updates();
    expect(updates).toHaveLength(2);
    for (const { metricNames, metricValues } of updates) {
      expect(metricNames.filter((_, i) => Number.isNaN(metricValues[i]))).toEqual([]);
      expect(metricNames).not.toContain('train/loss');
      expect(metricValues[metricNames.indexOf('train/numMissingRewards')]).toBeGreaterThan(0);
      expect(metricValues[metricNames.indexOf('train/klCoefficient')]).toBe(0.1);
    }
    expect(updates[1].weights.sha256).toBe(updates[0].weights.sha256);
    expect(said.join('\n')).toMatch(/update 1: nothing was trained/);
    expect(said.join('\n')).not.toContain('NaN');
    expect(await run.replay(2)).toMatchObject({ lossDifference: 0, sameWeights: true });
  });
});

describe('the greedy episode of ReMax', () => {
  it('is one a group, marked greedy in its steps, and nobody trains on it', async () => {
    const run = await begin('remax groups', cases.ReMax, 1);
    await run.work();
    const members = new Map<string, boolean[]>();
    const groupOf = new Map<string, string>();
    for (const { kind, episodeId, payload } of await run.episodeEvents()) {
      if (kind === 'EpisodeStarted') groupOf.set(episodeId, payload.groupId);
      if (kind !== 'StepRecorded' || payload.step > 0) continue;
      const group = groupOf.get(episodeId) ?? '';
      members.set(group, [...(members.get(group) ?? []), payload.sampling?.greedy ?? false]);
    }
    const groupSize = resolveRecipe('bandit-ppo').collection.groupSize;
    expect(members.size).toBe(8);
    for (const greedy of members.values()) {
      expect(greedy).toHaveLength(groupSize + 1);
      expect(greedy.filter(Boolean)).toHaveLength(1);
    }
  });
});
