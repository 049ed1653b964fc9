import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { makeDataDirectory } from '../support/cli.mjs';
import { InProcessRun } from '../support/in-process-run.js';

/*
 * Each monitor is proved by a run that has its fault; `ratioDrift` and `slowStore`, whose faults are in the services around a run, in
 * `monitored-services.spec.ts`.
 */

const small = [
  ...['collection.groupsPerRound=32', 'collection.concurrentEpisodes=32', 'optimizer.epochs=1'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.decayStartFraction=1'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16', 'loss.entropyCoefficient=0'],
];
const walk = (options: object) =>
  `environment=${JSON.stringify({ module: fileURLToPath(new URL('../support/faulty-walk.ts', import.meta.url)), options })}`;
const INVERTED = 'reward.components=[{"reward":"goal","options":{"success":-1,"failure":1}}]';
const CONSTANT = 'reward.components=[{"reward":"goal","options":{"success":1,"failure":1}}]';

interface Fault {
  readonly recipe: string;
  readonly numUpdates: number;
  readonly settings: readonly string[];
  readonly namesEpisodes: boolean;
}

const faults: Readonly<Record<string, Fault>> = {
  missingRewards: {
    recipe: 'bandit-ppo',
    numUpdates: 2,
    settings: [walk({ failsOnOddTasks: true })],
    namesEpisodes: true,
  },
  saturatedRewards: {
    recipe: 'bandit-ppo',
    numUpdates: 4,
    settings: [CONSTANT],
    namesEpisodes: true,
  },
  zeroGradientGroups: {
    recipe: 'memory-bandit-grpo',
    numUpdates: 4,
    settings: [CONSTANT, 'collection.groupsPerRound=8', 'collection.groupSize=2'],
    namesEpisodes: false,
  },
  clippedTokens: {
    recipe: 'frozen-lake-ppo',
    numUpdates: 6,
    // The paper's bounds, which are for the mean over answers of thousands of tokens; here each has one.
    settings: [
      'loss.policyLoss=gspo',
      'loss.policyLossOptions={"clipLow":0.0003,"clipHigh":0.0004}',
      ...['collection.groupsPerRound=32', 'optimizer.epochs=4'],
    ],
    namesEpisodes: false,
  },
  rewardHacking: {
    recipe: 'bandit-ppo',
    // From a policy that succeeds in 5 % of the episodes.
    numUpdates: 24,
    settings: [INVERTED, 'optimizer.learningRate=0.003', 'collection.groupsPerRound=256'],
    namesEpisodes: true,
  },
  entropyCollapse: {
    recipe: 'bandit-ppo',
    numUpdates: 40,
    settings: [walk({ isUnsolvable: true }), 'optimizer.learningRate=0.01'],
    namesEpisodes: false,
  },
  lengthExplosion: {
    recipe: 'bandit-ppo',
    numUpdates: 20,
    settings: [walk({}), 'optimizer.learningRate=0.02'],
    namesEpisodes: true,
  },
  repeatedSteps: {
    recipe: 'bandit-ppo',
    numUpdates: 20,
    settings: [walk({}), 'optimizer.learningRate=0.02'],
    namesEpisodes: true,
  },
  staleGroups: {
    recipe: 'bandit-ppo',
    numUpdates: 12,
    settings: [
      'collection.maxStaleness=1',
      'sampler={"rule":"fifo","limiter":{"samplesPerInsert":0.25,"minDiff":0,"maxDiff":64}}',
    ],
    namesEpisodes: false,
  },
  gradientSpike: {
    recipe: 'bandit-ppo',
    numUpdates: 16,
    settings: [
      walk({ jumpsAt: 32 * 14 }),
      'advantage={"estimator":"mcReturns","options":{"whiten":false}}',
      'optimizer.learningRate=0.0001',
    ],
    namesEpisodes: false,
  },
};

describe('a run with a fault raises the alarm of its monitor', { timeout: 300_000 }, () => {
  const directory = makeDataDirectory();
  const opened: InProcessRun[] = [];
  beforeAll(async () => {
    await openBackend();
  });
  afterAll(async () => {
    await Promise.all(opened.map((run) => run.close()));
    directory.remove();
  });

  async function warningsOf(name: string, { recipe, numUpdates, settings }: Omit<Fault, 'namesEpisodes'>) {
    const resolved = resolveRecipe(recipe, { numUpdates, assignments: [...small, ...settings] });
    const run = await InProcessRun.begin(`${directory.path}/${name}`, resolved);
    opened.push(run);
    await run.work();
    const played = new Set((await run.episodeEvents()).map(({ episodeId }) => episodeId));
    return { warnings: await run.warnings(), played };
  }

  it.each(Object.entries(faults))('%s', async (rule, fault) => {
    const { warnings, played } = await warningsOf(rule, fault);
    const raised = warnings.filter((warning) => warning.rule === rule);
    expect(
      raised.length,
      JSON.stringify(warnings.map(({ rule: other, message }) => [other, message])),
    ).toBeGreaterThan(0);
    expect(raised[0].advice).not.toBe('');
    expect(raised[0].episodeIds.length > 0).toBe(fault.namesEpisodes);
    for (const episodeId of raised[0].episodeIds) expect(played).toContain(episodeId);
  });

  it('and a healthy run raises none', async () => {
    const { warnings } = await warningsOf('healthy', {
      recipe: 'frozen-lake-ppo',
      numUpdates: 20,
      settings: [],
    });
    expect(warnings.filter(({ rule }) => rule !== '')).toEqual([]);
  });
});
