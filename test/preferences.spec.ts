import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

/* Training by preference: collector and trainer on a log, then replayed. */

const small = [
  ...['collection.groupsPerRound=12', 'collection.concurrentEpisodes=48', 'optimizer.learningRate=0.01'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.miniBatchActionTokens=64'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16'],
];

const directory = makeDataDirectory();
const opened: InProcessRun[] = [];
beforeAll(async () => {
  await openBackend();
});
afterAll(async () => {
  await Promise.all(opened.map((run) => run.close()));
  directory.remove();
});

/** Trains the recipe frozen-lake-dpo with these settings, and reads the metrics of its updates. */
async function train(name: string, numUpdates: number, ...settings: string[]) {
  const recipe = resolveRecipe('frozen-lake-dpo', { numUpdates, assignments: [...small, ...settings] });
  const run = await InProcessRun.begin(`${directory.path}/${name}`, recipe);
  opened.push(run);
  const said: string[] = [];
  await run.work({ onWarning: (line) => said.push(line) });
  const committed = await run.updates();
  const updates = committed.map(
    ({ metricNames, metricValues }) => new Map(metricNames.map((metric, i) => [metric, metricValues[i]])),
  );
  return { run, committed, updates, said };
}

const BANDIT = ['environment=bandit'];

describe('a recipe with preference', () => {
  const trainsPairs = 'trains, reports its pairs and replays to the same bits: %s';
  const trains = async (loss: string) => {
    const { run, updates } = await train(loss, 3, `preference.loss=${loss}`);
    expect(updates).toHaveLength(3);
    for (const metrics of updates) {
      const at = (metric: string) => metrics.get(metric) ?? NaN;
      expect(at('preference/numPairs')).toBe(
        at('train/numGroups') - at('train/numEqualGroups') - at('train/numSingletonGroups'),
      );
      expect(at('preference/margin')).toBeCloseTo(
        at('preference/chosenReward') - at('preference/rejectedReward'),
        5,
      );
      expect(at('train/numLearnedTokens')).toBeGreaterThan(0);
      for (const metric of ['train/clipFraction', 'train/kl', 'train/valueLoss'])
        expect(metrics.keys()).not.toContain(metric);
    }
    // Two epochs: in the second the policy has gained on the chosen episodes.
    expect(updates[2].get('preference/accuracy')).toBeGreaterThan(0.5);
    expect(updates[2].get('preference/margin')).toBeGreaterThan(0);
    expect(await run.replay(3)).toMatchObject({ lossDifference: 0, sameWeights: true });
  };
  it.each(['dpo'])(trainsPairs, trains);
  it.each(['ipo'])(trainsPairs, { tags: 'release' }, trains);

  it(
    'depends neither on micro-batches nor on shards, however they part the episodes of a pair',
    { tags: 'release' },
    async () => {
      const whole = await train('whole', 2);
      for (const cut of ['optimizer.maxTokensPerMicroBatch=40', 'optimizer.dataParallel=3']) {
        const parted = await train(cut.slice(10, 20), 2, cut);
        whole.updates.forEach((metrics, u) => {
          for (const name of ['train/loss', 'train/gradientNorm', 'preference/margin', 'train/entropy']) {
            const [expected, actual] = [metrics.get(name) ?? NaN, parted.updates[u].get(name) ?? NaN];
            expect(Math.abs(actual - expected), `${cut}: ${name}`).toBeLessThan(
              1e-4 * Math.max(1, Math.abs(expected)),
            );
          }
        });
      }
    },
  );

  it.each([
    ['dpo', Math.log(2)],
    ['ipo', 5 ** 2],
  ])('starts at the reference, from log 2 and from (1/(2β))²: %s', async (loss, start) => {
    const settings = [`preference.loss=${loss}`, 'optimizer.learningRate=0', 'loss.entropyCoefficient=0'];
    const { updates } = await train(`start ${loss}`, 1, ...settings);
    expect(updates[0].get('train/loss')).toBeCloseTo(start, 4);
    expect(updates[0].get('preference/margin')).toBeCloseTo(0, 5);
    expect(updates[0].get('train/gradientNorm')).toBeGreaterThan(0);
  });

  it('learns to choose one of the arms that a bandit names: dpo', { tags: 'release' }, () =>
    learns('dpo', 0.1),
  );

  it('learns to choose one of the arms that a bandit names: ipo', { tags: 'release' }, () =>
    learns('ipo', 0.02),
  );

  async function learns(loss: string, beta: number): Promise<void> {
    const { committed } = await train(
      `bandit ${loss}`,
      11,
      ...BANDIT,
      `preference={"loss":"${loss}","beta":${beta}}`,
      ...['collection.groupsPerRound=32', 'optimizer.miniBatchActionTokens=16', 'model.hiddenSize=32'],
      ...['optimizer.warmupFraction=0', 'optimizer.decayStartFraction=1'],
    );
    const meanReward = (u: number) => {
      const rewards = committed[u].episodeRewards ?? new Float64Array(0);
      return rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    };
    // Another word costs 0.1, the worse arm pays 0.1.
    expect(meanReward(0)).toBeLessThan(-0.05);
    expect((meanReward(8) + meanReward(9) + meanReward(10)) / 3).toBeGreaterThan(0.01);
  }

  it('trains nothing without a pair, and says so', async () => {
    const { committed, updates, said, run } = await train(
      'no pairs',
      2,
      ...BANDIT,
      'reward.components=[{"reward":"environment","sources":["elsewhere"]}]',
    );
    expect(committed[1].weights.sha256).toBe(committed[0].weights.sha256);
    for (const metrics of updates) {
      expect(metrics.get('preference/numPairs')).toBe(0);
      expect(metrics.get('train/numLearnedTokens')).toBe(0);
      expect(metrics.keys()).not.toContain('train/loss');
    }
    expect(said.join('\n')).toMatch(
      /update 1: nothing was trained, the policy stays as it was: none of 0 groups/,
    );
    expect(await run.replay(2)).toMatchObject({ lossDifference: 0, sameWeights: true });
  });
});

describe('a recipe with preference is refused', () => {
  const problemsOf = (...assignments: string[]) => {
    try {
      resolveRecipe('frozen-lake-dpo', { assignments });
    } catch (error) {
      return (error as Error).message;
    }
    return null;
  };

  it.each<[string, RegExp]>([
    ['collection.groupSize=1', /collection\.groupSize: got 1, must be at least 2 with preference/],
    ['loss.kl.coefficient=0.1', /loss\.kl\.coefficient: got 0\.1, must be 0 with preference/],
    ['loss.topEntropyFraction=0.5', /loss\.topEntropyFraction: got 0\.5, must be null/],
    ['loss.rolloutCorrection={}', /loss\.rolloutCorrection: got \{.*\}, must be null/],
    ['advantage.shuffle=true', /advantage\.shuffle: got true, must be false/],
    ['advantage.resampling={"rule":"best"}', /advantage\.resampling: got .*, must be null/],
    ['advantage.estimator=remax', /advantage\.estimator: got "remax", must be another/],
    [
      'preference={"loss":"ipo","beta":0.1,"labelSmoothing":0.1}',
      /preference\.labelSmoothing: got 0\.1, must be 0/,
    ],
    ['preference={"loss":"kto","beta":0.1}', /preference\.loss: got "kto"/],
    ['preference={"loss":"dpo","beta":0}', /preference\.beta: got 0, must be a number from 0\.0001 to 100/],
  ])('with %s', (assignment, message) => {
    const options = assignment === 'advantage.estimator=remax' ? ['advantage.options={}'] : [];
    expect(problemsOf(assignment, ...options)).toMatch(message);
  });
});
