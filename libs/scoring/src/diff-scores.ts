import { rankCorrelation, type RankCorrelation } from '@retrace/algorithms';
import type { StoreClient } from '@retrace/trajectory/clickhouse';
import { findVersion } from './reward-versions.js';
import { ScoringError } from './scoring-error.js';

export interface ScoreDiffOptions {
  readonly client: StoreClient;
  readonly runId: string;
  /** A name, a reward version, or the first characters of one. */
  readonly a: string;
  readonly b: string;
  /** Longest lists in the result (default 10). */
  readonly limit?: number;
}

/** One quantity under both versions, over the episodes that have a value of it under both. */
export interface ValueDiff extends RankCorrelation {
  readonly name: string;
  readonly numCompared: number;
  readonly numOnlyA: number;
  readonly numOnlyB: number;
  readonly numChanged: number;
  readonly meanA: number;
  readonly meanB: number;
  readonly meanAbsoluteChange: number;
  readonly maxAbsoluteChange: number;
}

export interface EpisodeChange {
  readonly episodeId: string;
  readonly groupId: string;
  readonly totalA: number;
  readonly totalB: number;
}

export interface GroupFlip {
  readonly groupId: string;
  readonly numEpisodes: number;
  /** Members that the group baseline puts above the mean under one version and below it under the other. */
  readonly numFlipped: number;
}

export interface ScoreDiff {
  readonly runId: string;
  readonly versionA: string;
  readonly versionB: string;
  readonly nameA: string;
  readonly nameB: string;
  /** The total first, then each component, by name; one that only one version has is compared with nothing. */
  readonly values: readonly ValueDiff[];
  readonly mostChanged: readonly EpisodeChange[];
  readonly numGroups: number;
  readonly numGroupsFlipped: number;
  readonly mostFlipped: readonly GroupFlip[];
}

interface ScoreRow {
  readonly episodeId: string;
  readonly groupId: string;
  readonly totalA: number | null;
  readonly totalB: number | null;
  readonly valuesA: Readonly<Record<string, number | null>>;
  readonly valuesB: Readonly<Record<string, number | null>>;
}

const pageSize = 4096;

/**
 * Compares two reward versions of a run, over the episodes that both have scored. Reads pages; keeps two numbers an
 * episode and value, which ranks need.
 *
 * @throws ScoringError `VERSION_UNKNOWN` when the run has no such version or several begin so, `NOTHING_TO_COMPARE` when no
 * episode has a score of both
 */
export async function diffScores(options: ScoreDiffOptions): Promise<ScoreDiff> {
  const { client, runId, limit = 10 } = options;
  const a = await findVersion(client, runId, options.a);
  const b = await findVersion(client, runId, options.b);
  const total = new ValuePairs('total');
  const components = new Map<string, ValuePairs>();
  const groups = new Map<string, { a: number; b: number }[]>();
  let mostChanged: EpisodeChange[] = [];
  for (let after = ''; ;) {
    const upTo = await endOfPage(client, { runId, version: a.version, after });
    if (upTo === null) break;
    const rows = await readPage(client, { runId, a: a.version, b: b.version, after, upTo });
    after = upTo;
    for (const row of rows) {
      const { episodeId, groupId, totalA, totalB } = row;
      total.add(totalA, totalB);
      for (const name of new Set([...Object.keys(row.valuesA), ...Object.keys(row.valuesB)])) {
        const pairs = components.get(name) ?? new ValuePairs(name);
        components.set(name, pairs);
        pairs.add(row.valuesA[name] ?? null, row.valuesB[name] ?? null);
      }
      if (totalA === null || totalB === null) continue;
      if (totalA !== totalB) mostChanged.push({ episodeId, groupId, totalA, totalB });
      const group = groups.get(groupId) ?? [];
      groups.set(groupId, group);
      group.push({ a: totalA, b: totalB });
    }
    mostChanged = mostChanged.sort(byChange).slice(0, limit);
  }
  if (total.isEmpty) {
    throw new ScoringError(
      'NOTHING_TO_COMPARE',
      `run ${runId}: no episode has a score of ${options.a} and of ${options.b}; score the run under both first`,
    );
  }
  const flips = [...groups].map(([groupId, members]) => countFlips(groupId, members));
  const flipped = flips.filter(({ numFlipped }) => numFlipped > 0);
  return {
    runId,
    versionA: a.version,
    versionB: b.version,
    nameA: a.name,
    nameB: b.name,
    values: [total, ...[...components.values()].sort((x, y) => (x.name < y.name ? -1 : 1))].map((pairs) =>
      pairs.summarize(),
    ),
    mostChanged,
    numGroups: groups.size,
    numGroupsFlipped: flipped.length,
    mostFlipped: flipped
      .sort((x, y) => y.numFlipped - x.numFlipped || (x.groupId < y.groupId ? -1 : 1))
      .slice(0, limit),
  };
}

/** The id with which the next page of scored episodes ends; null when there is none. */
async function endOfPage(
  client: StoreClient,
  params: { readonly runId: string; readonly version: string; readonly after: string },
): Promise<string | null> {
  const [row] = await client.queryRows<{ readonly upTo: string }>(
    `SELECT max(episode_id) AS upTo
     FROM
     (
       SELECT DISTINCT episode_id FROM reward_scores
       WHERE run_id = {runId:String} AND reward_version = {version:String} AND episode_id > {after:String}
       ORDER BY episode_id LIMIT ${String(pageSize)}
     )`,
    { params },
  );
  return row.upTo === '' ? null : row.upTo;
}

function readPage(
  client: StoreClient,
  params: Readonly<Record<'runId' | 'a' | 'b' | 'after' | 'upTo', string>>,
): Promise<ScoreRow[]> {
  return client.queryRows<ScoreRow>(
    `SELECT
       a.episode_id AS episodeId, started.group_id AS groupId, a.total AS totalA, b.total AS totalB,
       a.components AS valuesA, b.components AS valuesB
     FROM
     (
       SELECT episode_id, total, components FROM scores
       WHERE run_id = {runId:String} AND reward_version = {a:String} AND episode_id > {after:String} AND episode_id <= {upTo:String}
     ) AS a
     INNER JOIN
     (
       SELECT episode_id, total, components FROM scores
       WHERE run_id = {runId:String} AND reward_version = {b:String} AND episode_id > {after:String} AND episode_id <= {upTo:String}
     ) AS b ON a.episode_id = b.episode_id
     INNER JOIN
     (
       SELECT episode_id, group_id FROM events
       WHERE run_id = {runId:String} AND episode_id > {after:String} AND episode_id <= {upTo:String} AND kind = 'EpisodeStarted'
       ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
       LIMIT 1 BY run_id, episode_id
     ) AS started ON a.episode_id = started.episode_id
     ORDER BY episodeId`,
    { params },
  );
}

function byChange(x: EpisodeChange, y: EpisodeChange): number {
  const difference = Math.abs(y.totalB - y.totalA) - Math.abs(x.totalB - x.totalA);
  return difference || (x.episodeId < y.episodeId ? -1 : 1);
}

/** Advantages are R − μ over the members that both versions know, as group estimators have them up to a scale. */
function countFlips(
  groupId: string,
  members: readonly { readonly a: number; readonly b: number }[],
): GroupFlip {
  const meanA = members.reduce((sum, { a }) => sum + a, 0) / members.length;
  const meanB = members.reduce((sum, { b }) => sum + b, 0) / members.length;
  // The mean of equal values may be off by a rounding: that is no advantage.
  const signOf = (value: number, mean: number) =>
    Math.abs(value - mean) <= 1e-12 * Math.max(1, Math.abs(mean)) ? 0 : Math.sign(value - mean);
  const numFlipped = members.filter(({ a, b }) => signOf(a, meanA) * signOf(b, meanB) < 0).length;
  return { groupId, numEpisodes: members.length, numFlipped };
}

/** The values of one quantity under both versions. */
class ValuePairs {
  readonly #a: number[] = [];
  readonly #b: number[] = [];
  #numOnlyA = 0;
  #numOnlyB = 0;
  #numNeither = 0;

  constructor(readonly name: string) {}

  get isEmpty(): boolean {
    return this.#a.length + this.#numOnlyA + this.#numOnlyB + this.#numNeither === 0;
  }

  add(a: number | null, b: number | null): void {
    if (a !== null && b !== null) {
      this.#a.push(a);
      this.#b.push(b);
    } else if (a !== null) this.#numOnlyA++;
    else if (b !== null) this.#numOnlyB++;
    else this.#numNeither++;
  }

  summarize(): ValueDiff {
    const a = Float64Array.from(this.#a);
    const b = Float64Array.from(this.#b);
    const changes = a.map((value, i) => Math.abs(b[i] - value));
    const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return {
      name: this.name,
      numCompared: a.length,
      numOnlyA: this.#numOnlyA,
      numOnlyB: this.#numOnlyB,
      numChanged: changes.filter((change) => change !== 0).length,
      meanA: mean(a),
      meanB: mean(b),
      meanAbsoluteChange: mean(changes),
      maxAbsoluteChange: changes.reduce((max, change) => Math.max(max, change), 0),
      ...rankCorrelation(a, b),
    };
  }
}
