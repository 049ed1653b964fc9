import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { asksAboutNow } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { Patience, type ReadValue } from '../store/patience.js';
import { StoreService } from '../store/store.service.js';
import { RunFactsReader } from './run-facts.js';
import type { RunTotals } from './run-totals.dto.js';
import type { RecordedFigures } from './runs.dto.js';

/** Of runs that have started: events of others are left out, as in the views. */
const OF_STARTED_RUNS = `run_id IN (
      SELECT run_id FROM events WHERE run_id IN {runIds:Array(String)} AND episode_id = '' AND kind = 'RunStarted')`;

// The first record of an episode's end, and of each step that states its usage, counts. Rows are stored in the order of runs and episodes, so LIMIT BY
// takes a tenth of what GROUP BY by episode does.
const EPISODES = `
  SELECT run_id, count() AS num_episodes, countIf(kind != 'EpisodeEnded') AS num_ongoing, countIf(success = true) AS num_successes,
    countIf(success = false) AS num_failures, avgOrNull(return) AS mean_return, sum(num_steps) AS num_steps
  FROM (
    SELECT run_id, kind, success, return, num_steps
    FROM events
    WHERE ${OF_STARTED_RUNS} AND episode_id != '' AND kind IN ('EpisodeStarted', 'EpisodeEnded')
    ORDER BY run_id, episode_id, kind = 'EpisodeEnded' DESC, log_offset
    LIMIT 1 BY run_id, episode_id
  )
  GROUP BY run_id`;

const USAGE = `
  SELECT run_id, sum(accurateCastOrNull(trunc(usage[1]), 'UInt64')) AS input_tokens,
    sum(accurateCastOrNull(trunc(usage[3]), 'UInt64')) AS output_tokens,
    sumOrNullIf(usage[5], isFinite(usage[5])) AS cost_usd
  FROM (
    SELECT run_id, usage
    FROM events
    WHERE ${OF_STARTED_RUNS} AND episode_id != '' AND kind = 'StepRecorded' AND notEmpty(usage)
    ORDER BY run_id, episode_id, seq, log_offset
    LIMIT 1 BY run_id, episode_id, seq
  )
  GROUP BY run_id`;

/** Changes with every record of an episode that the store gets or removes; duplicates that are merged change it too, after which totals are read once more. */
const ROWS = `
  SELECT run_id, concat(toString(count()), ' ', toString(sum(cityHash64(log_id, log_partition, log_offset)))) AS rows
  FROM events
  WHERE run_id IN {runIds:Array(String)} AND episode_id != ''
  GROUP BY run_id`;

type UsageTotals = Pick<RunTotals, 'inputTokens' | 'outputTokens' | 'costUsd'>;
type EpisodeTotals = Omit<RunTotals, keyof UsageTotals>;

const NO_EPISODES: EpisodeTotals = {
  ...{ numEpisodes: 0, numOngoing: 0, numSuccesses: 0, numFailures: 0 },
  ...{ meanReturn: null, numSteps: 0 },
};
const NO_USAGE: UsageTotals = { inputTokens: null, outputTokens: null, costUsd: null };

/** No rows of episodes. */
const NO_ROWS = '';

/** Totals that took `t` to read are answered again for so many times `t`: pages ask for them every few seconds, and runs have millions of episodes. */
const KEPT_TIMES = 50;
const KEPT_AT_MOST_MS = 10_000;
/** Totals whose reading began longer ago are read again though the store has the same rows: a rebuild may make rows from scratch in their places. */
const TAKEN_OVER_AT_MOST_MS = 60_000;
const MOST_KEPT = 1_000;

interface AskedTotals {
  readonly runId: string;
  /** Null: it has not ended; undefined: there is no such run. */
  readonly endedAt: string | null | undefined;
}

interface KeptTotals extends ReadValue<RunTotals> {
  /** When the run had ended before the totals were read; null: it had not. */
  readonly endedAt: string | null;
  /** By `performance.now()`. */
  readonly readAtMs: number;
  readonly untilMs: number;
  /** How long it took to read them, the last time that they were. */
  readonly readingMs: number;
  /** When that reading began, by `performance.now()`; `askedAtMs` may be that of a later look which found the same rows. */
  readonly wholeAtMs: number;
  /** `ROWS` of before they were read; null for a run that goes on. */
  readonly rows: string | null;
}

/** Totals as they were found, and what is kept with them. */
type FoundTotals = Pick<KeptTotals, 'value' | 'rows' | 'readingMs' | 'wholeAtMs'>;

/** Totals that are being read. */
interface TotalsReading extends Pick<AskedTotals, 'endedAt'> {
  readonly found: Promise<FoundTotals>;
  /** By `performance.now()`. */
  readonly askedAtMs: number;
}

/**
 * Reads the totals of runs, of several at once. Those of a run with very many episodes may be up to ten seconds old, or as old as a reading takes
 * if that is longer, but are never from before the run's end, its deletion, or a deletion of its episodes by this process.
 * Where rows of a run that has ended are mended in their places, they are a minute older at most.
 */
@Injectable()
export class RunTotalsReader {
  private readonly kept = new LRUCache<string, KeptTotals>({ max: MOST_KEPT });
  /** By run: one at a time, so that questions which do not wait for it do not add others. */
  private readonly readings = new Map<string, TotalsReading>();

  constructor(
    private readonly store: StoreService,
    private readonly runs: RunFactsReader,
    private readonly changes: ControlChanges,
  ) {}

  /** Totals of each of the runs; zeros where there is no such run. */
  async read(runIds: readonly string[]): Promise<(runId: string) => RunTotals> {
    if (runIds.length === 0 || !asksAboutNow()) return this.readNow(runIds);
    const factsOf = await this.runs.of(runIds);
    const nowMs = performance.now();
    // What is kept is looked up once: while one run is waited for, that of another may go.
    const asked = runIds.map((runId) => {
      const one = { runId, endedAt: factsOf.get(runId)?.endedAt };
      return { ...one, kept: this.keptOf(one) };
    });
    // Before they are due, so that a page that asks every few seconds does not wait for them.
    const aging = asked.filter(({ kept }) => kept === null || nowMs > (kept.readAtMs + kept.untilMs) / 2);
    const readingOf = this.readingsOf(aging);
    const patience = new Patience(this.changes.patienceMs);
    const found = new Map<string, RunTotals>();
    for (const { runId, kept } of asked) {
      const reading = kept === null || kept.untilMs <= nowMs ? readingOf.get(runId) : undefined;
      const before = kept && { value: kept, askedAtMs: kept.askedAtMs };
      const totals = reading === undefined ? kept : await patience.wait<FoundTotals>(reading.found, before);
      if (totals !== null) found.set(runId, totals.value);
    }
    return (runId) => found.get(runId) ?? { ...NO_EPISODES, ...NO_USAGE };
  }

  private keptOf({ runId, endedAt }: AskedTotals): KeptTotals | null {
    const kept = this.kept.get(runId);
    return kept?.endedAt === endedAt ? (kept ?? null) : null;
  }

  /** Reads in one question what is not being read: a slow reading that began again with each question would never end. */
  private readingsOf(asked: readonly AskedTotals[]): ReadonlyMap<string, TotalsReading> {
    const fresh = asked.filter(({ runId, endedAt }) => {
      const reading = this.readings.get(runId);
      return reading === undefined || reading.endedAt !== endedAt;
    });
    const askedAtMs = performance.now();
    const reading = this.readChanged(fresh);
    for (const { runId, endedAt } of fresh) {
      const one = { endedAt, askedAtMs, found: reading.then((foundOf) => foundOf(runId)) };
      this.readings.set(runId, one);
      void this.settle(runId, one);
    }
    return new Map(this.readings);
  }

  /** Of the runs that have ended only what may have changed. */
  private async readChanged(asked: readonly AskedTotals[]): Promise<(runId: string) => FoundTotals> {
    const ended = asked.filter(({ endedAt }) => typeof endedAt === 'string');
    const others = asked.filter((one) => !ended.includes(one));
    const [endedOf, othersOf] = await Promise.all([
      this.readEnded(ended),
      this.readTimed(others.map(({ runId }) => runId)),
    ]);
    return (runId) => endedOf(runId) ?? othersOf(runId);
  }

  /** Reads the totals of runs that have ended only where the store has other rows than when they were read, or that was over a minute ago. */
  private async readEnded(
    asked: readonly AskedTotals[],
  ): Promise<(runId: string) => FoundTotals | undefined> {
    const before = new Map(asked.map((one) => [one.runId, this.keptOf(one)]));
    const askedAtMs = performance.now();
    // Before the totals: a row that comes meanwhile is one that they may lack.
    const rowsOf = await this.readRows([...before.keys()]);
    const found = new Map<string, FoundTotals>();
    for (const [runId, kept] of before) {
      if (kept === null || kept.rows !== rowsOf.get(runId)) continue;
      if (askedAtMs - kept.wholeAtMs <= TAKEN_OVER_AT_MOST_MS) found.set(runId, kept);
    }
    const changed = [...before.keys()].filter((runId) => !found.has(runId));
    const totalsOf = await this.readTimed(changed);
    for (const runId of changed) found.set(runId, { ...totalsOf(runId), rows: rowsOf.get(runId) ?? null });
    return (runId) => found.get(runId);
  }

  private async readTimed(runIds: readonly string[]): Promise<(runId: string) => FoundTotals> {
    const wholeAtMs = performance.now();
    const totalsOf = await this.readNow(runIds);
    const readingMs = performance.now() - wholeAtMs;
    return (runId) => ({ value: totalsOf(runId), rows: null, readingMs, wholeAtMs });
  }

  private async readRows(runIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (runIds.length === 0) return new Map();
    const found = await this.store.queryRows<{ readonly runId: string; readonly rows: string }>(ROWS, {
      runIds,
    });
    const rowsOf = new Map(found.map(({ runId, rows }) => [runId, rows]));
    return new Map(runIds.map((runId) => [runId, rowsOf.get(runId) ?? NO_ROWS]));
  }

  /** Totals that were read while episodes were deleted may have some of them, so they are not kept; a failure is that of the questions which wait for it. */
  private async settle(runId: string, reading: TotalsReading): Promise<void> {
    const { endedAt, askedAtMs } = reading;
    const found = await reading.found.catch(() => null);
    if (this.readings.get(runId) !== reading) return;
    this.readings.delete(runId);
    if (found === null || endedAt === undefined) return;
    const { value, rows, readingMs, wholeAtMs } = found;
    const readAtMs = performance.now();
    const untilMs = readAtMs + Math.min(KEPT_TIMES * readingMs, KEPT_AT_MOST_MS);
    this.kept.set(runId, { value, rows, readingMs, wholeAtMs, askedAtMs, endedAt, readAtMs, untilMs });
  }

  /** After a deletion of episodes of the run: its totals are read from the store again. */
  forget(runId: string): void {
    this.readings.delete(runId);
    this.kept.delete(runId);
  }

  private async readNow(runIds: readonly string[]): Promise<(runId: string) => RunTotals> {
    const [episodes, usages] =
      runIds.length === 0
        ? [[], []]
        : await Promise.all([
            this.store.queryRows<{ readonly runId: string } & EpisodeTotals>(EPISODES, { runIds }),
            this.store.queryRows<{ readonly runId: string } & UsageTotals>(USAGE, { runIds }),
          ]);
    const episodesOf = new Map(episodes.map(({ runId, ...totals }) => [runId, totals]));
    const usageOf = new Map(usages.map(({ runId, ...usage }) => [runId, usage]));
    return (runId) => ({ ...(episodesOf.get(runId) ?? NO_EPISODES), ...(usageOf.get(runId) ?? NO_USAGE) });
  }
}

/** Figures of a recorded run in the list of runs. */
export function recordedFigures(totals: RunTotals): RecordedFigures {
  const { numEpisodes, numOngoing, numSuccesses, numFailures, meanReturn, numSteps, costUsd } = totals;
  const numDecided = numSuccesses + numFailures;
  return {
    ...{ numEpisodes: numEpisodes - numOngoing, meanReturn, numSteps, costUsd },
    success: numDecided === 0 ? null : numSuccesses / numDecided,
  };
}
