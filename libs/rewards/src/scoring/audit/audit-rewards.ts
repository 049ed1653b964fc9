import { rankCorrelation } from '@retrace/algorithms';
import type { StoreReader } from '@retrace/store';
import { findVersion } from '../reward-versions.js';
import { RewardError } from '../../errors.js';
import {
  AuditedScores,
  type AuditedCounts,
  type AuditedEpisode,
  type AuditedScoresKey,
  type StretchRow,
  type ValueRow,
} from './audited-scores.js';

/** Fewer episodes in a stretch say little about it. */
const LEAST_PER_STRETCH = 10;
/** Stretches in a row that a trend is looked for in, and Spearman's ρ with time from which a series rises; as the monitor `rewardHacking` has them. */
const WINDOW = 10;
const RISING = 0.6;
/** Stretches at either end of a window whose mean says from what to what a series went. */
const END = 3;
/** Means of equal values differ by their rounding. */
const ROUNDING = 1e-9;

export interface RewardAuditOptions {
  readonly client: StoreReader;
  readonly runId: string;
  /** A name of a reward version, the version, or the first characters of one. */
  readonly version: string;
  /** Only episodes of this split; null = all (default). */
  readonly split?: string | null;
  /** Stretches of equally many episodes that the history is cut into by time (default 20); fewer where one would have fewer than ten episodes. */
  readonly numStretches?: number;
  /** Longest lists of episodes (default 5). */
  readonly limit?: number;
}

/** The total, or a component times its weight. */
export interface AuditedValue extends ValueRow {
  /** Whether the episodes that failed got more of it than those that succeeded. */
  readonly paysFailures: boolean;
  /** Mean in each stretch; null where no episode of it has the value. */
  readonly byStretch: readonly (number | null)[];
}

/** A time in which a value rose while the success fell. Where it began and ended are means of three stretches. */
export interface HackedStretches extends Pick<ValueRow, 'kind' | 'name'> {
  /** The first and the last stretch. */
  readonly from: number;
  readonly to: number;
  /** Spearman's ρ with time. */
  readonly trend: number;
  readonly successTrend: number;
  readonly valueFrom: number;
  readonly valueTo: number;
  readonly successFrom: number;
  readonly successTo: number;
}

export interface RewardAudit extends AuditedCounts {
  readonly runId: string;
  readonly version: string;
  readonly name: string;
  /** Success is null where no episode of the stretch says whether it reached its goal. */
  readonly stretches: readonly { readonly numEpisodes: number; readonly success: number | null }[];
  /** The total first, then the components by name. */
  readonly values: readonly AuditedValue[];
  /** Times of ten stretches over which the success was known; 0 where nothing could be said about hacking. */
  readonly numWindows: number;
  /** The worst time of each value that had one, that of the steepest fall of the success first. */
  readonly hacked: readonly HackedStretches[];
  /** Share of the failures with at least the median total of the successes; null where either is missing. */
  readonly paidFailures: number | null;
  readonly richestFailures: readonly AuditedEpisode[];
  readonly poorestSuccesses: readonly AuditedEpisode[];
}

/**
 * Holds a reward version against the success of the episodes, over the whole history of a run: which values failures get more of than successes, when a
 * value rose while the success fell (reward hacking), and episodes to read. The store computes; memory here does not grow with the history.
 *
 * @throws RewardError `VERSION_UNKNOWN`, `VERSION_AMBIGUOUS`; `NOTHING_TO_COMPARE` when no episode has a total
 */
export async function auditRewards(options: RewardAuditOptions): Promise<RewardAudit> {
  const { client, runId, split = null, limit = 5 } = options;
  const { version, name } = await findVersion(client, runId, options.version);
  const key = { runId, version, split };
  const scores = new AuditedScores(client, key);
  const counts = await scores.counts();
  if (counts.numWithTotal === 0) throw await nothingToAudit(client, name, { key, counts });
  const mostStretches = Math.max(1, Math.floor(counts.numWithTotal / LEAST_PER_STRETCH));
  const numStretches = Math.min(options.numStretches ?? 20, mostStretches);
  const stretches = (await scores.stretches(numStretches)).map(({ numEpisodes, success }) => ({
    numEpisodes,
    success,
  }));
  const byStretch = await scores.valuesByStretch(numStretches);
  const values = withStretches(await scores.values(), byStretch, stretches.length);
  return {
    ...{ runId, version, name, ...counts, stretches, values },
    ...hackedStretches(
      stretches.map(({ success }) => success),
      values,
    ),
    paidFailures: await scores.paidFailures(),
    richestFailures: await scores.extremes('failures', limit),
    poorestSuccesses: await scores.extremes('successes', limit),
  };
}

async function nothingToAudit(
  client: StoreReader,
  name: string,
  { key, counts }: { readonly key: AuditedScoresKey; readonly counts: AuditedCounts },
): Promise<RewardError> {
  const { runId, split } = key;
  const ofSplit = split === null ? '' : ` of split '${split}'`;
  const say = (what: string) =>
    new RewardError('NOTHING_TO_COMPARE', `run ${runId}, reward version ${name}: ${what}`);
  if (counts.numEpisodes > 0)
    return say(`none of the ${counts.numEpisodes} scores${ofSplit} has a total; their faults say why`);
  const others = await new AuditedScores(client, { ...key, split: null }).counts();
  return others.numEpisodes > 0
    ? say(
        `no score is of an episode${ofSplit}; ${others.numEpisodes} are of other splits, which split all takes in`,
      )
    : say('no episode has a score of it; score the run first, with "retrace score"');
}

function withStretches(
  values: readonly ValueRow[],
  rows: readonly StretchRow[],
  numStretches: number,
): AuditedValue[] {
  const keyOf = (stretch: number, { kind, name }: Pick<ValueRow, 'kind' | 'name'>) =>
    `${stretch} ${kind} ${name}`;
  const means = new Map(rows.map((row) => [keyOf(row.stretch, row), row.mean]));
  return values.map((value) => {
    const { meanOfFailures, meanOfSuccesses } = value;
    return {
      ...value,
      paysFailures:
        meanOfFailures !== null && meanOfSuccesses !== null && isMore(meanOfFailures, meanOfSuccesses),
      byStretch: Array.from(
        { length: numStretches },
        (_, stretch) => means.get(keyOf(stretch, value)) ?? null,
      ),
    };
  });
}

function isMore(a: number, b: number): boolean {
  return a - b > ROUNDING * Math.max(1, Math.abs(b));
}

/** The rule of the monitor `rewardHacking`, over stretches of the history in place of updates. */
function hackedStretches(
  success: readonly (number | null)[],
  values: readonly AuditedValue[],
): Pick<RewardAudit, 'numWindows' | 'hacked'> {
  let numWindows = 0;
  const worst = new Map<string, HackedStretches>();
  for (let from = 0; from + WINDOW <= success.length; from++) {
    const successes = success.slice(from, from + WINDOW);
    if (!isWhole(successes)) continue;
    numWindows += 1;
    const successTrend = computeTrend(successes);
    if (!(successTrend <= -RISING)) continue;
    for (const { kind, name, byStretch } of values) {
      const series = byStretch.slice(from, from + WINDOW);
      if (!isWhole(series)) continue;
      const trend = computeTrend(series);
      if (!(trend >= RISING)) continue;
      const [successFrom, successTo] = computeEnds(successes);
      const [valueFrom, valueTo] = computeEnds(series);
      const window = { kind, name, from, to: from + WINDOW - 1, trend, successTrend };
      const found = { ...window, valueFrom, valueTo, successFrom, successTo };
      const before = worst.get(`${kind} ${name}`);
      if (before === undefined || fallOf(found) > fallOf(before)) worst.set(`${kind} ${name}`, found);
    }
  }
  return { numWindows, hacked: [...worst.values()].sort((a, b) => fallOf(b) - fallOf(a)) };
}

const fallOf = ({ successFrom, successTo }: HackedStretches): number => successFrom - successTo;

function isWhole(series: readonly (number | null)[]): series is readonly number[] {
  return !series.includes(null);
}

/** Spearman's ρ of a series with time; NaN where it never changes by more than its rounding. */
function computeTrend(series: readonly number[]): number {
  if (!isMore(Math.max(...series), Math.min(...series))) return Number.NaN;
  return rankCorrelation(Float64Array.from(series.keys()), Float64Array.from(series)).spearman;
}

function computeEnds(series: readonly number[]): [number, number] {
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return [meanOf(series.slice(0, END)), meanOf(series.slice(-END))];
}
