import { Injectable } from '@nestjs/common';
import type { ControlEventKind } from '@retrace/trajectory';
import { LRUCache } from 'lru-cache';
import { asksAboutNow } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { KeptOfAskedRuns } from '../store/kept-of-asked-runs.js';
import { isKeptRun } from '../store/kept-run.js';
import { StoreService } from '../store/store.service.js';
import { type LoggedMetrics, RunSeries } from './run-series.js';

const KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  ...(['MetricsLogged', 'RunStarted', 'TrainerClaimed', 'RunEnded'] as const),
]);

/** Events of a log that are later than those that were added, of all logs by default; in the order of their offsets, so that the next page goes on after them. */
const LOGGED_LATER = `
  SELECT log_id, log_offset, source, metric_step AS step, toUnixTimestamp64Micro(occurred_at) AS time_us, metric_names AS names, metric_values AS values
  FROM events
  WHERE run_id = {runId:String} AND episode_id = '' AND kind = 'MetricsLogged'
    AND toInt64(log_offset) > arrayPushFront({offsets:Array(Int64)}, -1)[indexOf({logIds:Array(String)}, log_id) + 1]
    AND ${isKeptRun('AND run_id = {runId:String}')}
  ORDER BY log_id, log_offset
  LIMIT {limit:UInt32}`;

/** With 40 metrics each, about 1 MB of JSON. */
const EVENTS_AT_ONCE = 500;
const MAX_BYTES = 64 * 1024 * 1024;
/** Of one run: 350,000 to 700,000 points, since columns grow by doubling. A longer one is read from the store each time, which cuts it. */
const MAX_BYTES_OF_RUN = MAX_BYTES / 4;
const BYTES_OF_TOO_LARGE = 1_000;
/** Readings from scratch that wait for their turn; more runs are not kept until they are asked about again. */
const MOST_WAITING = 8;
/** Runs of which it is known that somebody asked about them. */
const MOST_ASKED = 1_000;

/** The series of a run, or that they are too large to be kept. */
type KeptOrTooLarge = RunSeries | 'too large';

/**
 * Keeps the series of the runs that were asked about last. An update of a run that trains adds a few points to some 80 series: only its events are
 * read. While that takes long, what is answered may be ten seconds old, as with other figures of a run that trains.
 */
@Injectable()
export class KeptSeries {
  private readonly kept: KeptOfAskedRuns<KeptOrTooLarge>;
  private readonly asked = new LRUCache<string, true>({ max: MOST_ASKED });
  /** Runs that a question wants to be kept. */
  private readonly wanted = new Set<string>();
  /** The last reading from scratch: one at a time, since each may take as much memory as a kept run. */
  private wholeReading: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: StoreService,
    private readonly changes: ControlChanges,
  ) {
    this.kept = new KeptOfAskedRuns<KeptOrTooLarge>({
      ...{ changes, maxSize: MAX_BYTES, isLasting: (series) => series === 'too large' },
      sizeOf: (series) => (series === 'too large' ? BYTES_OF_TOO_LARGE : series.sizeBytes),
      dependsOn: ({ kind }) => KINDS.has(kind),
      mayBeLate: ({ kind, isAfterEnd }) => kind === 'MetricsLogged' && !isAfterEnd,
      read: (runIds, beforeOf) => this.readAll(runIds, beforeOf),
    });
  }

  /** Null where the store is to answer: at an earlier moment, or where all events of the run would have to be read, which takes longer than its answer. */
  async of(runId: string): Promise<RunSeries | null> {
    const series = await this.kept.ofReady(runId);
    return series === undefined || series === 'too large' ? null : series;
  }

  /** After the store answered a question about now: from the second one about a run on, its series are read beside the questions. */
  keepBeside(runId: string): void {
    if (!asksAboutNow()) return;
    const isSecond = this.asked.has(runId);
    this.asked.set(runId, true);
    if (isSecond && this.wanted.size < MOST_WAITING && !this.wanted.has(runId)) void this.keep(runId);
  }

  private async keep(runId: string): Promise<void> {
    this.wanted.add(runId);
    try {
      if ((await this.changes.look()) !== null) await this.kept.of([runId]);
    } catch {
      // A failure is that of the question, which reads the store itself.
    }
    this.wanted.delete(runId);
  }

  /** A run without metrics is left out: its series would be those of a run that does not exist. */
  private async readAll(
    runIds: readonly string[],
    beforeOf: (runId: string) => KeptOrTooLarge | undefined,
  ): Promise<Map<string, KeptOrTooLarge>> {
    const found = new Map<string, KeptOrTooLarge>();
    for (const runId of runIds) {
      const before = beforeOf(runId);
      const series = before === undefined ? await this.readWhole(runId) : await this.readLater(runId, before);
      if (series === 'too large' || !series.isEmpty) found.set(runId, series);
    }
    return found;
  }

  private readWhole(runId: string): Promise<KeptOrTooLarge> {
    const reading = this.wholeReading.then(() => this.readLater(runId, new RunSeries()));
    const end = () => undefined;
    this.wholeReading = reading.then(end, end);
    return reading;
  }

  /** Adds to the series of before what the store has later: to those themselves, since points that are added twice change nothing. */
  private async readLater(runId: string, before: KeptOrTooLarge): Promise<KeptOrTooLarge> {
    if (before === 'too large') return before;
    for (;;) {
      const { newestOffsets } = before;
      const logged = await this.store.queryRows<LoggedMetrics>(LOGGED_LATER, {
        ...{ runId, limit: EVENTS_AT_ONCE },
        ...{ logIds: [...newestOffsets.keys()], offsets: [...newestOffsets.values()] },
      });
      for (const one of logged) before.add(one);
      if (before.sizeBytes > MAX_BYTES_OF_RUN) return 'too large';
      if (logged.length < EVENTS_AT_ONCE) return before;
    }
  }
}
