import { newRunId } from '@retrace/trajectory';
import { Sink } from '@retrace/store';
import { appendEvents } from '@retrace/log/testing';
import { episodeEvents } from '@retrace/trajectory/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RewardScorer, type RewardDefinition } from '../reward-scorer.js';
import { scoreRun } from '../score-run.js';
import { diffScores } from './diff-scores.js';

const SPREAD = { allocation: 'perStep', allocationGamma: 1 } as const;

describe('diffScores', () => {
  let store: StoreFixture;
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreFixture();
    const stop = new AbortController();
    const sink = new Sink({ lingerMs: 5, minInsertIntervalMs: 5 });
    const running = sink.run({ log: store.log, client: store.client, signal: stop.signal });
    for (let ordinal = 0; ordinal < 6; ordinal++) {
      const { partition, lastOffset } = await appendEvents(
        store.log,
        episodeEvents({
          logId: store.log.logId,
          runId,
          ordinal,
          numSteps: 1,
          step: () => ({ reward: [1, 2, 5, 5, 4, 3][ordinal] }),
        }),
      );
      await sink.caughtUpTo('trajectories', partition, lastOffset);
    }
    stop.abort();
    await running;
    const score = (components: RewardDefinition['components'], name: string) =>
      scoreRun({ client: store.client, runId, scorer: new RewardScorer({ ...SPREAD, components }), name });
    await score([{ reward: 'environment' }], 'plain');
    // Odd ordinals fail: 1+10, 2, 5+10, 5, 4+10, 3.
    await score(
      [{ reward: 'environment' }, { reward: 'goal', weight: 10, options: { failure: 0 } }],
      'with goal',
    );
  });
  afterAll(async () => {
    await store.close();
  });

  it('reports changes per episode and component, rank correlations, and flipped signs of advantages', async () => {
    const diff = await diffScores({ client: store.client, runId, a: 'plain', b: 'with goal' });
    expect(diff.values.map(({ name }) => name)).toEqual(['total', 'environment', 'goal']);
    const [total, environment, goal] = diff.values;
    expect(total).toMatchObject({
      numCompared: 6,
      numChanged: 3,
      numOnlyA: 0,
      numOnlyB: 0,
      maxAbsoluteChange: 10,
    });
    expect(total.meanA).toBeCloseTo(20 / 6, 12);
    expect(total.meanB).toBeCloseTo(50 / 6, 12);
    // A 1 2 5 5 4 3, B 11 2 15 5 14 3. Of 15 pairs one is tied in A, 10 agree and 4 don't: 6/√(14·15). scipy agrees.
    expect(total.kendall).toBeCloseTo(6 / Math.sqrt(14 * 15), 12);
    // Ranks A 1 2 5.5 5.5 4 3, B 4 1 6 3 5 2: Σ(a−3.5)(b−3.5) = 8, Σ(a−3.5)² = 17, Σ(b−3.5)² = 17.5. scipy agrees.
    expect(total.spearman).toBeCloseTo(8 / Math.sqrt(17 * 17.5), 12);
    expect(environment).toMatchObject({ numChanged: 0, spearman: 1, kendall: 1 });
    expect(goal).toMatchObject({ numCompared: 0, numOnlyB: 6 });
    expect(diff.mostChanged.map(({ totalA, totalB }) => [totalA, totalB])).toEqual([
      [1, 11],
      [5, 15],
      [4, 14],
    ]);
    // Groups of two: (1, 2) → (11, 2) flips both; (5, 5) had no advantage to flip; (4, 3) → (14, 3) keeps its order.
    expect(diff).toMatchObject({ numGroups: 3, numGroupsFlipped: 1 });
    expect(diff.mostFlipped).toEqual([{ groupId: 'group-0', numEpisodes: 2, numFlipped: 2 }]);
  });

  it('finds a version by the start of its hash, and lists the known versions when it refuses one', async () => {
    const { versionA } = await diffScores({ client: store.client, runId, a: 'plain', b: 'plain' });
    const byHash = await diffScores({ client: store.client, runId, a: versionA.slice(0, 8), b: versionA });
    expect(byHash.nameA).toBe('plain');
    await expect(diffScores({ client: store.client, runId, a: 'plane', b: 'plain' })).rejects.toMatchObject({
      code: 'VERSION_UNKNOWN',
      message: expect.stringMatching(/'plane'.* has no scores; use one of .*with goal/) as string,
    });
  });

  it('compares only the episodes of the split that is named', async () => {
    const both = { client: store.client, runId, a: 'plain', b: 'with goal' };
    expect(await diffScores({ ...both, split: 'train' })).toEqual(await diffScores(both));
    await expect(diffScores({ ...both, split: 'test' })).rejects.toMatchObject({
      code: 'NOTHING_TO_COMPARE',
      message: expect.stringContaining("no episode of split 'test' has a score") as string,
    });
  });
});

describe('diffScores over more episodes than it reads at once', () => {
  const runId = newRunId();
  const numEpisodes = 700;
  let store: StoreFixture;

  /** Many ties and a lean towards agreement; some values missing. */
  const values = Array.from({ length: numEpisodes }, (_, n) => {
    const noise = ((n * 7919) % 541) / 541;
    const a = n % 3 === 0 ? 1 : Math.round(noise * 40) / 8;
    const b = n % 5 === 0 ? 1 : n % 11 === 0 ? null : a + (((n * 104_729) % 97) / 97 - 0.5) * 4;
    return {
      a: n % 13 === 0 ? null : a,
      b,
      group: `group-${n % 90}`,
      split: n % 4 === 0 ? 'test' : 'train',
    };
  });

  beforeAll(async () => {
    store = await openStoreFixture();
    const insert = async (table: string, rows: readonly object[]) =>
      store.client.command(
        `INSERT INTO ${table} FORMAT JSONEachRow\n${rows.map((row) => JSON.stringify(row)).join('\n')}`,
      );
    const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
    await insert(
      'events',
      values.map(({ group, split }, n) => ({
        run_id: runId,
        episode_id: idOf(n),
        kind: 'EpisodeStarted',
        group_id: group,
        split,
      })),
    );
    for (const version of ['a', 'b'] as const) {
      const common = { run_id: runId, reward_version: `version ${version}` };
      await insert('reward_definitions', [
        { ...common, name: version, definition: '', named_at: '2026-01-01 00:00:00' },
      ]);
      await insert(
        'reward_scores',
        values.map((value, n) => ({ ...common, episode_id: idOf(n), total: value[version] })),
      );
    }
  });
  afterAll(async () => {
    await store.close();
  });

  const diff = (options: { split?: string; maxPairsInMemory?: number }) =>
    diffScores({ client: store.client, runId, a: 'a', b: 'b', ...options });

  it('gives the rank correlations that a comparison of all pairs gives', async () => {
    const known = values.flatMap(({ a, b }) => (a === null || b === null ? [] : [{ a, b }]));
    let [sum, differA, differB] = [0, 0, 0];
    for (let i = 0; i < known.length; i++) {
      for (let j = 0; j < i; j++) {
        sum += Math.sign(known[i].a - known[j].a) * Math.sign(known[i].b - known[j].b);
        differA += Number(known[i].a !== known[j].a);
        differB += Number(known[i].b !== known[j].b);
      }
    }
    const inMemory = await diff({});
    for (const maxPairsInMemory of [40, 333]) {
      const [total] = (await diff({ maxPairsInMemory })).values;
      expect(total.numCompared).toBe(known.length);
      expect(total.kendall).toBeCloseTo(sum / Math.sqrt(differA * differB), 10);
      expect(total.spearman).toBeCloseTo(inMemory.values[0].spearman, 10);
    }
    expect(inMemory.values[0].kendall).toBeCloseTo(sum / Math.sqrt(differA * differB), 10);
  });

  it('counts episodes that only one version scored, and flips, within a split', async () => {
    const inSplit = values.filter(({ split }) => split === 'test');
    const {
      values: [total],
      numGroups,
      numGroupsFlipped,
      mostChanged,
    } = await diff({ split: 'test' });
    expect(total).toMatchObject({
      numCompared: inSplit.filter(({ a, b }) => a !== null && b !== null).length,
      numOnlyA: inSplit.filter(({ a, b }) => a !== null && b === null).length,
      numOnlyB: inSplit.filter(({ a, b }) => a === null && b !== null).length,
    });
    const known = inSplit.flatMap(({ a, b, group }) => (a === null || b === null ? [] : [{ a, b, group }]));
    const byGroup = groupBy(known);
    const mean = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    const flipped = [...byGroup.values()].filter((members) => {
      const [meanA, meanB] = [mean(members.map(({ a }) => a)), mean(members.map(({ b }) => b))];
      return members.some(({ a, b }) => (a - meanA) * (b - meanB) < -1e-12);
    });
    expect({ numGroups, numGroupsFlipped }).toEqual({
      numGroups: byGroup.size,
      numGroupsFlipped: flipped.length,
    });
    const largest = Math.max(...known.map(({ a, b }) => Math.abs(b - a)));
    expect(Math.abs(mostChanged[0].totalB - mostChanged[0].totalA)).toBeCloseTo(largest, 12);
  });

  function groupBy<T extends { readonly group: string }>(members: readonly T[]): Map<string, T[]> {
    const groups = new Map<string, T[]>();
    for (const member of members) groups.set(member.group, [...(groups.get(member.group) ?? []), member]);
    return groups;
  }
});
