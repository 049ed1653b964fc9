import { rankCorrelation } from '@retrace/algorithms';
import type { StoreClient } from '@retrace/store';
import { findVersion } from '../reward-versions.js';
import { ScoringError } from '../scoring-error.js';
import { AuditedScores, type AuditedEpisode, type StretchRow, type ValueRow } from './audited-scores.js';

export interface RewardAuditOptions {
  readonly client: StoreClient;
  readonly runId: string;
  /** A name of a reward version, the version, or the first characters of one. */
  readonly version: string;
  /** Only episodes of this split; null = all (default). */
  readonly split?: string | null;
  /** Stretches of equally many episodes that the history is cut into by time (default 20). */
  readonly numStretches?: number;
  /** Stretches that a trend is looked for in (default 10). */
  readonly windowStretches?: number;
  /** Spearman's ρ with time from which a series rises, and below whose negative it falls (default 0.6). */
  readonly bound?: number;
  /** Longest lists of episodes (default 5). */
  readonly limit?: number;
}

/** The total or a component, over the episodes that have it. */
export interface AuditedValue extends ValueRow {
  /** Whether the episodes that failed got more of it than those that succeeded. */
  readonly paysFailures: boolean;
  /** Mean in each stretch; null where no episode of it has the value. */
  readonly byStretch: readonly (number | null)[];
}

/** A time in which a value rose while the success fell. */
export interface HackedStretches {
  readonly name: string;
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

export interface RewardAudit {
  readonly runId: string;
  readonly version: string;
  readonly name: string;
  /** Episodes with a total. */
  readonly numEpisodes: number;
  /** Success is null where no episode of the stretch says whether it reached its goal. */
  readonly stretches: readonly { readonly numEpisodes: number; readonly success: number | null }[];
  /** The total first, then the components by name. */
  readonly values: readonly AuditedValue[];
  /** The worst time of each value that had one, the steepest fall of the success first. */
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
 * @throws ScoringError `VERSION_UNKNOWN`; `NOTHING_TO_COMPARE` when no episode has a score
 */
export async function auditRewards(options: RewardAuditOptions): Promise<RewardAudit> {
  const { client, runId, split = null, numStretches = 20, limit = 5 } = options;
  const { version, name } = await findVersion(client, runId, options.version);
  const scores = new AuditedScores(client, { runId, version, split, numStretches });
  const rows = await scores.stretches();
  if (rows.length === 0) {
    const ofSplit = split === null ? '' : ` of split '${split}'`;
    const rule = `no episode${ofSplit} has a score of ${options.version}; score the run first`;
    throw new ScoringError('NOTHING_TO_COMPARE', `run ${runId}: ${rule}`);
  }
  const stretches = rows.map(({ numEpisodes, success }) => ({ numEpisodes, success }));
  const values = withStretches(
    await scores.values(),
    await scores.valuesByStretch(),
    rows.map(({ stretch }) => stretch),
  );
  return {
    ...{ runId, version, name, stretches, values },
    numEpisodes: stretches.reduce((sum, { numEpisodes }) => sum + numEpisodes, 0),
    hacked: hackedStretches(stretches, values, options),
    paidFailures: await scores.paidFailures(),
    richestFailures: await scores.extremes('failures', limit),
    poorestSuccesses: await scores.extremes('successes', limit),
  };
}

function withStretches(
  values: readonly ValueRow[],
  rows: readonly StretchRow[],
  stretches: readonly number[],
): AuditedValue[] {
  const means = new Map(rows.map(({ name, stretch, mean }) => [`${stretch} ${name}`, mean]));
  return values.map((value) => ({
    ...value,
    paysFailures:
      value.meanOfFailures !== null &&
      value.meanOfSuccesses !== null &&
      value.meanOfFailures > value.meanOfSuccesses,
    byStretch: stretches.map((stretch) => means.get(`${stretch} ${value.name}`) ?? null),
  }));
}

/** The rule of the monitor `rewardHacking`, over stretches of the history in place of updates. */
function hackedStretches(
  stretches: RewardAudit['stretches'],
  values: readonly AuditedValue[],
  { windowStretches = 10, bound = 0.6 }: Pick<RewardAuditOptions, 'windowStretches' | 'bound'>,
): HackedStretches[] {
  const success = stretches.map((stretch) => stretch.success);
  const found = values.flatMap(({ name, byStretch }) => {
    const windows: HackedStretches[] = [];
    for (let from = 0; from + windowStretches <= success.length; from++) {
      const to = from + windowStretches - 1;
      const [series, successes] = [byStretch, success].map((all) => all.slice(from, to + 1));
      const [trend, successTrend] = [trendOf(series), trendOf(successes)];
      if (!(trend >= bound && successTrend <= -bound)) continue;
      const [valueFrom, valueTo, successFrom, successTo] = [
        ...[series[0], series[series.length - 1]],
        ...[successes[0], successes[successes.length - 1]],
      ].map(Number);
      windows.push({ name, from, to, trend, successTrend, valueFrom, valueTo, successFrom, successTo });
    }
    return windows.sort((a, b) => fallOf(b) - fallOf(a)).slice(0, 1);
  });
  return found.sort((a, b) => fallOf(b) - fallOf(a));
}

const fallOf = ({ successFrom, successTo }: HackedStretches): number => successFrom - successTo;

/** Spearman's ρ of a series with time; NaN where it lacks a value or never changes. */
function trendOf(series: readonly (number | null)[]): number {
  if (series.includes(null)) return Number.NaN;
  return rankCorrelation(Float64Array.from(series.keys()), Float64Array.from(series.map(Number))).spearman;
}
