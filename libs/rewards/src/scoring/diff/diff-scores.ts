import type { RankCorrelation } from '@retrace/algorithms';
import type { StoreReader } from '@retrace/store';
import { findVersion } from '../reward-versions.js';
import { RewardError } from '../../errors.js';
import { rankAgreement } from './rank-agreement.js';
import { ScorePairs, type ScoredValue } from './score-pairs.js';

export interface ScoreDiffOptions {
  readonly client: StoreReader;
  readonly runId: string;
  /** A name, a reward version, or the first characters of one. */
  readonly a: string;
  readonly b: string;
  /** Only episodes of this split; null = all (default). */
  readonly split?: string | null;
  /** Longest lists in the result (default 10). */
  readonly limit?: number;
  /** Most pairs of values in memory at once (default 262,144): those of more episodes are ranked in the store. */
  readonly maxPairsInMemory?: number;
}

/** One quantity under both versions, over the episodes that have a value of it under both. */
export interface ValueDiff extends RankCorrelation {
  readonly kind: ScoredValue['kind'];
  /** `total`, or the name of the component. */
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

const TOTAL: ScoredValue = { kind: 'total' };

/**
 * Compares two reward versions of a run, over the episodes that both have scored. The store computes; memory here is bounded,
 * whatever the history.
 *
 * @throws RewardError `VERSION_UNKNOWN`, `VERSION_AMBIGUOUS`; `NOTHING_TO_COMPARE` when no episode has a score of both
 */
export async function diffScores(options: ScoreDiffOptions): Promise<ScoreDiff> {
  const { client, runId, split = null, limit = 10, maxPairsInMemory = 262_144 } = options;
  const a = await findVersion(client, runId, options.a);
  const b = await findVersion(client, runId, options.b);
  const pairs = new ScorePairs(client, { runId, a: a.version, b: b.version, split });
  const total = await diffValue(pairs, TOTAL, maxPairsInMemory);
  if (total === null) {
    const ofSplit = split === null ? '' : ` of split '${split}'`;
    throw new RewardError(
      'NOTHING_TO_COMPARE',
      `run ${runId}: no episode${ofSplit} has a score of ${a.name} and of ${b.name}`,
    );
  }
  const values = [total];
  for (const name of await pairs.componentNames()) {
    const value = await diffValue(pairs, { kind: 'component', name }, maxPairsInMemory);
    if (value !== null) values.push(value);
  }
  return {
    runId,
    versionA: a.version,
    versionB: b.version,
    nameA: a.name,
    nameB: b.name,
    values,
    mostChanged: await mostChanged(pairs, limit),
    ...(await flips(pairs, limit)),
  };
}

/** null when there is no episode at all. */
async function diffValue(pairs: ScorePairs, value: ScoredValue, maxPairs: number): Promise<ValueDiff | null> {
  type Figures = Record<'meanA' | 'meanB' | 'meanAbsoluteChange' | 'maxAbsoluteChange', number | null>;
  type Counts = Record<'numEpisodes' | 'numCompared' | 'numOnlyA' | 'numOnlyB' | 'numChanged', number>;
  const [{ numEpisodes, numCompared, numOnlyA, numOnlyB, numChanged, ...figures }] = await pairs.query<
    Figures & Counts
  >(
    value,
    `SELECT
       count() AS numEpisodes, countIf(a AND b) AS numCompared, countIf(a AND NOT b) AS numOnlyA,
       countIf(b AND NOT a) AS numOnlyB, countIf(a AND b AND change != 0) AS numChanged,
       avgIf(assumeNotNull(valueA), a AND b) AS meanA, avgIf(assumeNotNull(valueB), a AND b) AS meanB,
       avgIf(change, a AND b) AS meanAbsoluteChange, maxIf(change, a AND b) AS maxAbsoluteChange
     FROM (
       SELECT valueA, valueB, valueA IS NOT NULL AS a, valueB IS NOT NULL AS b,
         abs(assumeNotNull(valueB) - assumeNotNull(valueA)) AS change
       FROM pairs
     )`,
  );
  if (numEpisodes === 0) return null;
  const { meanA, meanB, meanAbsoluteChange, maxAbsoluteChange } = figures;
  return {
    kind: value.kind,
    name: value.kind === 'total' ? value.kind : value.name,
    numCompared,
    numOnlyA,
    numOnlyB,
    numChanged,
    meanA: meanA ?? Number.NaN,
    meanB: meanB ?? Number.NaN,
    meanAbsoluteChange: meanAbsoluteChange ?? Number.NaN,
    maxAbsoluteChange: maxAbsoluteChange ?? 0,
    ...(await rankAgreement(pairs, value, { numCompared, maxPairs })),
  };
}

function mostChanged(pairs: ScorePairs, limit: number): Promise<EpisodeChange[]> {
  return pairs.query<EpisodeChange>(
    TOTAL,
    `SELECT episodeId, groupId, valueA AS totalA, valueB AS totalB
     FROM pairs WHERE valueA != valueB
     ORDER BY abs(valueB - valueA) DESC, episodeId LIMIT {limit:UInt64}`,
    { limit },
  );
}

/** Advantages are R − μ over the members that both versions know, as group estimators have them up to a scale. */
async function flips(
  pairs: ScorePairs,
  limit: number,
): Promise<Pick<ScoreDiff, 'numGroups' | 'numGroupsFlipped' | 'mostFlipped'>> {
  // The mean of equal values may be off by a rounding: that is no advantage.
  const signOf = (value: string, mean: string) =>
    `if(abs(${value} - ${mean}) <= 1e-12 * greatest(1, abs(${mean})), 0, sign(${value} - ${mean}))`;
  const groups = `
    SELECT groupId, length(members) AS numEpisodes,
      arrayCount(m -> ${signOf('m.1', 'meanA')} * ${signOf('m.2', 'meanB')} < 0, members) AS numFlipped
    FROM (
      SELECT groupId, groupArray((assumeNotNull(valueA), assumeNotNull(valueB))) AS members,
        avg(assumeNotNull(valueA)) AS meanA, avg(assumeNotNull(valueB)) AS meanB
      FROM pairs WHERE valueA IS NOT NULL AND valueB IS NOT NULL
      GROUP BY groupId
    )`;
  const [counts] = await pairs.query<Pick<ScoreDiff, 'numGroups' | 'numGroupsFlipped'>>(
    TOTAL,
    `SELECT count() AS numGroups, countIf(numFlipped > 0) AS numGroupsFlipped FROM (${groups})`,
  );
  const mostFlipped = await pairs.query<GroupFlip>(
    TOTAL,
    `SELECT groupId, numEpisodes, numFlipped FROM (${groups})
     WHERE numFlipped > 0 ORDER BY numFlipped DESC, groupId LIMIT {limit:UInt64}`,
    { limit },
  );
  return { ...counts, mostFlipped };
}
