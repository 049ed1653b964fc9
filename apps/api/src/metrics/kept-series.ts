import { Injectable } from '@nestjs/common';
import type { ControlEventKind } from '@retrace/trajectory';
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
/** Of one run: 700,000 points. A longer one is read whole each time, cut by the store. */
const MAX_BYTES_OF_RUN = MAX_BYTES / 4;

/** The series of a run, or that they are too large to be kept. */
type KeptOrTooLarge = RunSeries | 'too large';

/**
 * Keeps the series of the runs that were asked about last. An update of a run that trains adds a few points to some 80 series: only its events are
 * read. While that takes long, what is answered may be ten seconds old, as with other figures of a run that trains.
 */
@Injectable()
export class KeptSeries {
  private readonly kept: KeptOfAskedRuns<KeptOrTooLarge>;

  constructor(
    private readonly store: StoreService,
    private readonly changes: ControlChanges,
  ) {
    this.kept = new KeptOfAskedRuns<KeptOrTooLarge>({
      ...{ changes, maxSize: MAX_BYTES, sizeOf: (series) => (series === 'too large' ? 1 : series.sizeBytes) },
      dependsOn: ({ kind }) => KINDS.has(kind),
      mayBeLate: ({ kind, isAfterEnd }) => kind === 'MetricsLogged' && !isAfterEnd,
      read: (runIds, beforeOf) => this.readAll(runIds, beforeOf),
    });
  }

  /** Null where they are not kept. Then they are read beside the question if they can be kept, which may take longer than its answer. */
  async of(runId: string): Promise<RunSeries | null> {
    if (!asksAboutNow()) return null;
    if (!this.kept.has(runId)) {
      void this.keep(runId);
      return null;
    }
    const series = (await this.kept.of([runId])).get(runId);
    return series === undefined || series === 'too large' ? null : series;
  }

  private async keep(runId: string): Promise<void> {
    try {
      if ((await this.changes.look()) !== null) await this.kept.of([runId]);
    } catch {
      // A failure is that of the question, which reads the store itself.
    }
  }

  private async readAll(
    runIds: readonly string[],
    beforeOf: (runId: string) => KeptOrTooLarge | undefined,
  ): Promise<Map<string, KeptOrTooLarge>> {
    const found = new Map<string, KeptOrTooLarge>();
    for (const runId of runIds) found.set(runId, await this.readLater(runId, beforeOf(runId)));
    return found;
  }

  /** Adds to the series of before what the store has later: to those themselves, since points that are added twice change nothing. */
  private async readLater(runId: string, before: KeptOrTooLarge = new RunSeries()): Promise<KeptOrTooLarge> {
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
