import { describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { columnsFromTokens } from '@retrace/trajectory/testing';
import { episodeFigures } from './episode-figures.js';
import type { EpisodeFigures, UpdateFigures } from './monitor.js';
import { monitorRules, RunMonitors, type MonitoredRule } from './run-monitors.js';

const EPISODES: EpisodeFigures = {
  episodeIds: ['a', 'b', 'c', 'd'],
  totals: Float64Array.of(1, 0, 0.5, 1),
  successes: Int8Array.of(1, 0, 0, 1),
  numActionTokens: Int32Array.of(4, 9, 2, 5),
  repeatedFractions: Float32Array.of(0, 0.1, 0, 0),
  uniformEntropy: Math.log(4),
};

type Figures = Readonly<Record<string, number>>;

/** Findings after each of some updates; `episodes` are those of every update. */
function observe(
  updates: readonly Figures[],
  { episodes = EPISODES, rules = {} }: { episodes?: EpisodeFigures; rules?: object } = {},
) {
  const monitors = new RunMonitors(rules);
  return updates.map((figures, i) => {
    const update: UpdateFigures = { updateNumber: i + 1, metrics: new Map(Object.entries(figures)) };
    return monitors.observe(update, episodes);
  });
}

/** Numbers of the updates, from 1, at which the rule is broken. */
function brokenAt(rule: MonitoredRule, ...args: Parameters<typeof observe>): number[] {
  return observe(...args).flatMap((findings, i) =>
    findings.some((finding) => finding.rule === rule) ? [i + 1] : [],
  );
}

const series = (name: string, values: readonly number[], others: Figures = {}) =>
  values.map((value) => ({ ...others, [name]: value }));

describe('monitors', () => {
  it('say nothing of a healthy update, and nothing at all without rules', () => {
    const healthy = { 'train/entropy': 1, 'reward/max': 1, 'reward/min': 0, 'success/mean': 0.5 };
    expect(observe(Array.from({ length: 30 }, () => healthy)).flat()).toEqual([]);
    expect(new RunMonitors(null).observe({ updateNumber: 1, metrics: new Map() }, EPISODES)).toEqual([]);
  });

  it('bound no ratio of single tokens where the engine computes in 16 bits, unless a recipe asks for it', () => {
    const engine = { kind: 'torch', precision: 'bfloat16' } as const;
    const { monitors } = resolveRecipe('bandit-ppo', { assignments: ['monitors={"lengthFactor":4}'] });
    expect(monitorRules({})).toEqual({});
    expect(monitorRules({ monitors })?.ratioDeviation).toBeUndefined();
    expect(monitorRules({ engine })).toEqual({ ratioDeviation: null });
    expect(monitorRules({ engine, monitors })).toMatchObject({ ratioDeviation: null, lengthFactor: 4 });
    expect(monitorRules({ engine, monitors: { ratioDeviation: 0.1 } })).toEqual({ ratioDeviation: 0.1 });
    expect(monitorRules({ engine, monitors: null })).toBeNull();
  });

  it('count an update once that is made again, as its engine was lost before it was committed', () => {
    const monitors = new RunMonitors({});
    const metrics = new Map([['train/clipFraction', 0.9]]);
    const findings = [1, 2, 2, 3].map((updateNumber) =>
      monitors.observe({ updateNumber, metrics }, EPISODES).map(({ rule }) => rule),
    );
    expect(findings).toEqual([[], [], [], ['clippedTokens']]);
  });

  it('missingRewards: names the episodes without a reward when they are too many', () => {
    const episodes = { ...EPISODES, totals: Float64Array.of(1, NaN, 0, NaN) };
    const [[finding]] = observe([{}], { episodes });
    expect(finding).toMatchObject({ rule: 'missingRewards', severity: 'alarm', episodeIds: ['b', 'd'] });
    expect(finding.message).toBe('50 % of the episodes have no reward (2 of 4); the bound is 20 %');
    expect(brokenAt('missingRewards', [{}], { episodes, rules: { missingRewardFraction: 0.5 } })).toEqual([]);
    expect(brokenAt('missingRewards', [{}], { episodes, rules: { missingRewardFraction: null } })).toEqual(
      [],
    );
  });

  it('saturatedRewards: the same reward everywhere in three updates in a row', () => {
    const updates = [1, 0, 1, 1, 1, 1].map((min) => ({ 'reward/max': 1, 'reward/min': min }));
    expect(brokenAt('saturatedRewards', updates)).toEqual([5, 6]);
    const solved = updates.map((figures) => ({ ...figures, 'success/mean': 0.9 }));
    expect(brokenAt('saturatedRewards', solved)).toEqual([]);
  });

  it('rewardHacking: the reward of a format rises while the goal is reached less often', () => {
    const falling = Array.from({ length: 12 }, (_, i) => ({
      ...{
        'reward/mean': 0.1 * i,
        'reward/component/format': 0.2 * i,
        'reward/component/goal': 1 - 0.05 * i,
      },
      'success/mean': 1 - 0.05 * i,
    }));
    expect(brokenAt('rewardHacking', falling)).toEqual([10, 11, 12]);
    const last = observe(falling).at(-1)?.[0];
    expect(last?.message).toContain('reward/mean, reward/component/format rose');
    // Those without success, the highest reward first.
    expect(last?.episodeIds).toEqual(['c', 'b']);
    const rising = falling.map((figures, i) => ({ ...figures, 'success/mean': 0.05 * i }));
    expect(brokenAt('rewardHacking', rising)).toEqual([]);
  });

  it('entropyCollapse: below a twentieth of the first updates, or of an even choice of the legal actions', () => {
    const entropies = [1, 1, 1, 1, 1, 0.051, 0.049];
    expect(brokenAt('entropyCollapse', series('train/entropy', entropies))).toEqual([7]);
    // Random weights: ln 60 over the vocabulary. Of four actions ln 4, whose twentieth is 0.069.
    const spread = [4.1, 4.1, 4.1, 4.1, 4.1, 0.1, 0.07, 0.069];
    expect(brokenAt('entropyCollapse', series('train/entropy', spread))).toEqual([8]);
    const episodes = { ...EPISODES, uniformEntropy: NaN };
    expect(brokenAt('entropyCollapse', series('train/entropy', spread), { episodes })).toEqual([6, 7, 8]);
  });

  it('entropyCollapse: not where half of the failures are gone, or while the success rises', () => {
    const runOf = (successes: readonly number[]) =>
      successes.map((success, i) => ({ 'success/mean': success, 'train/entropy': i < 5 ? 1 : 0.01 }));
    const first = [0.2, 0.2, 0.2, 0.2, 0.2];
    // Five updates at 0.6 have half of the failures of 0.2.
    const learned = [...first, ...Array.from({ length: 90 }, () => 0.61)];
    expect(brokenAt('entropyCollapse', runOf(learned)).at(-1)).toBe(9);
    const stuck = [...first, ...Array.from({ length: 90 }, () => 0.59)];
    expect(brokenAt('entropyCollapse', runOf(stuck)).at(-1)).toBe(95);
    const rising = [...first, ...Array.from({ length: 15 }, (_, i) => 0.2 + 0.01 * i)];
    expect(brokenAt('entropyCollapse', runOf(rising))).toEqual([6, 7, 8, 9]);
    const lost = [...first, ...Array.from({ length: 9 }, () => 0.9), 0.1, 0.1, 0.1, 0.1, 0.1];
    expect(brokenAt('entropyCollapse', runOf(lost)).at(-1)).toBe(19);
  });

  it('zeroGradientGroups: nine groups of ten are silent in three updates in a row', () => {
    const updates = [9, 5, 9, 8, 9, 9, 9].map((numEqualGroups, i) => ({
      ...{ 'train/numGroups': 10, 'train/numEqualGroups': numEqualGroups },
      'train/numSingletonGroups': i === 3 ? 1 : 0,
    }));
    expect(brokenAt('zeroGradientGroups', updates)).toEqual([5, 6, 7]);
    const solved = updates.map((figures) => ({ ...figures, 'success/mean': 0.9 }));
    expect(brokenAt('zeroGradientGroups', solved)).toEqual([]);
    const equal = { 'train/numGroups': 10, 'train/numEqualGroups': 10 };
    const learned = [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8, 0.8].map((success) => ({
      ...equal,
      'success/mean': success,
    }));
    expect(brokenAt('zeroGradientGroups', learned)).toEqual([3, 4, 5, 6, 7, 8, 9]);
  });

  it('clippedTokens: four of ten tokens are clipped in three updates in a row', () => {
    const fractions = [0.6, 0.5, 0.3, 0.4, 0.9, 0.5, 0.7];
    expect(brokenAt('clippedTokens', series('train/clipFraction', fractions))).toEqual([6, 7]);
  });

  it('lengthExplosion: names the longest episodes', () => {
    const updates = series('episode/actionTokens/mean', [10, 12, 8, 10, 10, 30, 31]);
    expect(brokenAt('lengthExplosion', updates)).toEqual([7]);
    expect(observe(updates).at(-1)?.[0].episodeIds).toEqual(['b', 'd', 'a', 'c']);
  });

  it('gradientSpike: ten times the mean of the last updates, from the eleventh update on', () => {
    const norms = [100, ...Array.from({ length: 25 }, () => 1), 9, 15];
    expect(brokenAt('gradientSpike', series('train/gradientNorm', norms))).toEqual([28]);
  });

  it('ratioDrift: more than the bound on tokens of the current policy', () => {
    const updates = series('train/ratioMaxDeviation', [1e-6, 5e-5, 6e-5]);
    expect(brokenAt('ratioDrift', updates)).toEqual([3]);
  });

  it('staleGroups: more groups thrown away before each of three updates', () => {
    expect(brokenAt('staleGroups', series('train/numGroupsTooStale', [0, 1, 1, 2, 3, 5, 5]))).toEqual([6]);
  });

  it('slowStore: reads of over a second and twice the update, three times in a row', () => {
    const updates = [0.9, 5, 5, 5, 1, 5].map((read) => ({ 'time/read': read, 'time/update': 2 }));
    expect(brokenAt('slowStore', updates)).toEqual([4]);
    const short = updates.map((figures) => ({ ...figures, 'time/update': 0.1, 'time/read': 0.8 }));
    expect(brokenAt('slowStore', short)).toEqual([]);
  });

  it('repeatedSteps: names the episodes that repeat the most', () => {
    const episodes = { ...EPISODES, repeatedFractions: Float32Array.of(0.6, 1, 0.2, 0.9) };
    const [[finding]] = observe([{}], { episodes });
    expect(finding).toMatchObject({ rule: 'repeatedSteps', episodeIds: ['b', 'd', 'a'] });
  });

  it('read of episodes how many steps repeat the one before, and how many action tokens they have', () => {
    const step = (token: number, anchor: string | null) => ({
      observation: [1, 2],
      action: [token],
      fields: { anchor },
    });
    const columns = columnsFromTokens([
      // Of the three later steps one is the same again; the last has the same tokens in another state.
      { steps: [step(3, 'x'), step(3, 'x'), step(4, 'x'), step(4, 'y')] },
      { steps: [step(5, null)] },
    ]);
    const figures = episodeFigures(columns, Float64Array.of(1, 0));
    expect([...figures.numActionTokens]).toEqual([4, 1]);
    expect(figures.repeatedFractions[0]).toBeCloseTo(1 / 3, 6);
    expect(figures.repeatedFractions[1]).toBe(0);
    // Three different actions of one token.
    expect(figures.uniformEntropy).toBeCloseTo(Math.log(3), 6);
  });
});
