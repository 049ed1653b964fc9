import { resolveRecipe } from '@retrace/config';
import { listPolicyLosses } from '@retrace/algorithms';
import { openBackend } from '@retrace/compute';
import { evaluateLogprobs, Transformer, type NamedTensors } from '@retrace/policy';
import { buildTokenBatch } from '@retrace/trajectory';
import { beforeAll, describe, expect, it } from 'vitest';
import { InMemoryLoop } from '../bench/in-memory-loop.mjs';

/** The loop of collector and trainer without log and store: what is computed, apart from where it is kept. */
const small = [
  'collection.groupsPerRound=16',
  'collection.concurrentEpisodes=24',
  'optimizer.miniBatchActionTokens=64',
  'optimizer.epochs=1',
];

/** Losses with and without a clip; all of them are for a release. */
const ON_LANDING: ReadonlySet<string> = new Set(['ppo', 'cispo', 'gspo']);

beforeAll(async () => {
  await openBackend();
});

async function firstUpdate(recipeName: string, ...assignments: string[]) {
  const recipe = resolveRecipe(recipeName, { numUpdates: 2, assignments: [...small, ...assignments] });
  const loop = new InMemoryLoop(recipe);
  const { groupSize, groupsPerRound } = recipe.collection;
  const { columns } = await loop.play({ numGroups: groupsPerRound, groupSize, round: 0 });
  const { metrics, outcome } = await loop.update(columns, 1);
  const weights = await loop.engine.model.exportTensors();
  return { metrics: new Map(metrics), outcome, weights, loop, columns };
}

function largestDifference(a: NamedTensors, b: NamedTensors): number {
  let largest = 0;
  for (const [name, { data }] of a) {
    const other = b.get(name)?.data ?? new Float32Array(0);
    expect(other).toHaveLength(data.length);
    data.forEach((value, i) => {
      largest = Math.max(largest, Math.abs(value - other[i]));
    });
  }
  return largest;
}

describe('an update on fresh episodes', () => {
  it.each(['frozen-lake-ppo', 'memory-bandit-grpo'])(
    'is on-policy within 1e-4: the trainer’s probabilities are the collector’s (%s)',
    async (recipe) => {
      const { metrics } = await firstUpdate(recipe);
      expect(metrics.get('train/ratioMaxDeviation')).toBeLessThan(1e-4);
      expect(metrics.get('train/stalenessMax')).toBe(0);
    },
  );

  it.each(['frozen-lake-ppo', 'memory-bandit-grpo'])(
    'does not depend on the size of micro-batches (%s)',
    async (recipe) => {
      const whole = await firstUpdate(recipe);
      const cut = await firstUpdate(recipe, 'optimizer.maxTokensPerMicroBatch=100');
      expect(Math.abs(whole.outcome.loss - cut.outcome.loss)).toBeLessThan(1e-5);
      expect(whole.outcome.gradientNorm).toBeCloseTo(cut.outcome.gradientNorm, 4);
      expect(largestDifference(whole.weights, cut.weights)).toBeLessThan(1e-4);
    },
  );

  const title = 'is made by any policy loss that a recipe names, and changes the policy (%s)';
  const losses = listPolicyLosses().filter((name) => name !== 'crossEntropy');
  it.each(losses.filter((name) => ON_LANDING.has(name)))(title, changesPolicy);
  it.each(losses.filter((name) => !ON_LANDING.has(name)))(title, { tags: 'release' }, changesPolicy);

  async function changesPolicy(policyLoss: string): Promise<void> {
    const { outcome, weights, loop } = await firstUpdate(
      'memory-bandit-grpo',
      `loss.policyLoss=${policyLoss}`,
    );
    expect(Number.isFinite(outcome.loss)).toBe(true);
    expect(outcome.gradientNorm).toBeGreaterThan(0);
    const { config } = loop.engine.model;
    const initial = await Transformer.initialize(config, loop.recipe.seed).exportTensors();
    expect(largestDifference(weights, initial)).toBeGreaterThan(0);
  }

  it('says how far it moved, and nothing about a reference policy that the recipe does not have', async () => {
    const { metrics } = await firstUpdate('frozen-lake-ppo');
    expect(metrics.get('train/approximateKl')).toBeGreaterThan(0);
    expect(metrics.has('train/kl')).toBe(false);
  });

  it('is made with V-trace, and without Q only by estimators that need none', async () => {
    const vtrace = 'advantage={"estimator":"vtrace","options":{}}';
    const { outcome } = await firstUpdate('frozen-lake-ppo', vtrace);
    expect(outcome.gradientNorm).toBeGreaterThan(0);
    const retrace = vtrace.replace('vtrace', 'retrace');
    await expect(firstUpdate('frozen-lake-ppo', retrace)).rejects.toMatchObject({ code: 'RECIPE_INVALID' });
  });

  it('is made with GiGPO on the anchors of the environment, also similar ones, and with what reads steps or reward parts', async () => {
    const advantage = (estimator: string, more = '') =>
      `advantage={"estimator":"${estimator}","options":{}${more}}`;
    const gigpo = await firstUpdate('frozen-lake-grpo', advantage('gigpo'));
    expect(gigpo.outcome.gradientNorm).toBeGreaterThan(0);
    const shared = gigpo.metrics.get('train/sharedAnchorFraction') ?? 0;
    // Every episode of a group starts in the same state.
    expect(shared).toBeGreaterThan(0.1);
    const similar = await firstUpdate('frozen-lake-grpo', advantage('gigpo', ',"anchorSimilarity":0.5'));
    expect(similar.metrics.get('train/sharedAnchorFraction')).toBeGreaterThan(shared);
    for (const [recipe, estimator] of [
      ['frozen-lake-grpo', 'gdpo'],
      ['frozen-lake-ppo', 'biLevelGae'],
    ]) {
      const { outcome } = await firstUpdate(recipe, advantage(estimator));
      expect(outcome.gradientNorm, estimator).toBeGreaterThan(0);
    }
  });

  it('explains the variance of the rewards that are there: 1 − Var(G − V)/Var(G), a turn an episode', async () => {
    const recipe = resolveRecipe('bandit-ppo', { assignments: small });
    const loop = new InMemoryLoop(recipe);
    // At first a critic says the same of every state; some updates give it something to say.
    for (let u = 1; u <= 4; u++) {
      const fresh = await loop.play({ numGroups: 16, groupSize: 1, round: u });
      await loop.update(fresh.columns, u);
    }
    const numEpisodes = 64;
    const { columns } = await loop.play({ numGroups: numEpisodes, groupSize: 1, round: 5 });
    const batch = buildTokenBatch(columns);
    const { values } = await evaluateLogprobs(loop.engine.model, batch, {
      temperature: recipe.collection.temperature,
      maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch,
      actionMask: batch.actionMask,
    });
    expect(batch.actionTokens).toHaveLength(numEpisodes);
    const isMissing = (e: number) => e % 3 === 0;
    const kept = [...batch.actionTokens.keys()].filter((e) => !isMissing(e));
    const rewards = columns.rewards.map((reward: number, e: number) => (isMissing(e) ? Number.NaN : reward));
    const variance = (numbers: number[]) => {
      const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
      return numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length;
    };
    const returns = kept.map((e) => columns.rewards[e]);
    const errors = kept.map((e) => columns.rewards[e] - (values as Float32Array)[batch.actionTokens[e]]);
    expect(variance(returns)).toBeGreaterThan(0);
    const { metrics } = await loop.update({ ...columns, rewards }, 5);
    expect(new Map(metrics).get('train/numMissingRewards')).toBe(numEpisodes - kept.length);
    expect(new Map(metrics).get('train/explainedVariance')).toBeCloseTo(
      1 - variance(errors) / variance(returns),
      4,
    );
  });

  it('is the same bit for bit when it is made again', async () => {
    const first = await firstUpdate('frozen-lake-ppo');
    const second = await firstUpdate('frozen-lake-ppo');
    expect(largestDifference(first.weights, second.weights)).toBe(0);
  });

  it('is refused on data whose logprobs are not those of the policy that is named', async () => {
    const recipe = resolveRecipe('frozen-lake-ppo', { numUpdates: 1, assignments: small });
    const loop = new InMemoryLoop(recipe);
    const { groupSize, groupsPerRound } = recipe.collection;
    const { columns } = await loop.play({ numGroups: groupsPerRound, groupSize, round: 0 });
    const shiftedBy = (nats: number) => ({
      ...columns,
      tokenLogprobs: columns.tokenLogprobs.map((logprob: number, n: number) =>
        columns.actionMask[n] === 1 ? logprob - nats : logprob,
      ),
    });
    // A ratio of e^0.0002 = 1.0002 is one too many; what float32 may round is far below half of the bound.
    await expect(loop.update(shiftedBy(2e-4), 1)).rejects.toMatchObject({ code: 'NOT_ON_POLICY' });
    await expect(loop.update(shiftedBy(5e-5), 1)).resolves.toBeDefined();
  });
});

describe('learning', () => {
  async function successAfter(numUpdates: number, ...assignments: string[]) {
    const recipe = resolveRecipe('bandit-ppo', { numUpdates, assignments });
    const loop = new InMemoryLoop(recipe);
    const { groupSize, groupsPerRound } = recipe.collection;
    for (let u = 0; u < numUpdates; u++) {
      const { columns } = await loop.play({ numGroups: groupsPerRound, groupSize, round: u });
      await loop.update(columns, u + 1);
    }
    return loop.play({ split: 'test', numGroups: 300, groupSize: 1, round: 0, greedy: true });
  }

  it('finds the better arm of named bandits', async () => {
    expect((await successAfter(40)).success).toBeGreaterThan(0.95);
  });

  it('does not happen when advantages are shuffled inside the batch', { tags: 'release' }, async () => {
    expect((await successAfter(40, 'advantage.shuffle=true')).success).toBeLessThan(0.7);
  });
});
