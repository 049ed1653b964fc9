import { Injectable } from '@nestjs/common';
import type { ControlEventKind } from '@retrace/trajectory';
import { decodeCursor } from '../paging/cursor.js';
import { pageOf, type Page, type PageQuery } from '../paging/page.js';
import { RunFactsReader } from '../runs/run-facts.js';
import { ControlChanges } from '../store/control-changes.js';
import { KeptOfAllRuns } from '../store/kept-of-all-runs.js';
import { isKeptRun } from '../store/kept-run.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { AlarmItem, RunWarning } from './warnings.dto.js';

/** With those of processes that belong to no run, such as a sink, from the time of this run. */
const LIST_WARNINGS = `
  SELECT source, severity, step, message, num_times, raised_at, rule, advice, episode_ids
  FROM warnings
  WHERE run_id = {runId:String}
    OR (run_id = ''
      AND raised_at >= (SELECT min(started_at) FROM runs WHERE run_id = {runId:String})
      AND raised_at <= (
        SELECT ifNull(max(ended_at), toDateTime64('2200-01-01', 6, 'UTC')) FROM runs WHERE run_id = {runId:String}))
  ORDER BY raised_at DESC, message DESC
  LIMIT {limit:UInt32} OFFSET {skipped:UInt64}`;

/**
 * Those of a monitor are one alarm of its run, whatever they say, as in Alertmanager; others are one where their texts differ only in numbers, as the
 * processes count them (`WarningLog`). A failed run is one, as it is where alarms are sent (`alarmOf`). `argMax` alone would pass over a step of null.
 */
const alarmsOf = (ofRuns: string): string => `
  SELECT
    run_id, source, rule, newest.1 AS message, newest.2 AS step, newest.3 AS advice, newest.4 AS episode_ids,
    most_times AS num_times, first_raised_at, last_raised_at
  FROM (
    SELECT
      run_id, source, rule,
      argMax((message, step, advice, episode_ids), (raised_at, num_times)) AS newest,
      max(num_times) AS most_times, min(raised_at) AS first_raised_at, max(raised_at) AS last_raised_at
    FROM (
      SELECT run_id, toString(source) AS source, rule, message, step, advice, episode_ids, num_times, raised_at
      FROM warnings
      WHERE severity = 'alarm' ${ofRuns} AND ${isKeptRun(ofRuns)}
      UNION ALL
      SELECT
        run_id, 'system', 'runFailed',
        concat('the run failed', if(detail = '', '', ': '), detail), CAST(NULL AS Nullable(Int64)), '', CAST([] AS Array(String)),
        toUInt64(1), occurred_at
      FROM (
        SELECT run_id, occurred_at, JSONExtractString(payload, 'detail') AS detail
        FROM events
        WHERE episode_id = '' AND kind = 'RunEnded' AND end_reason = 'failed' ${ofRuns} AND ${isKeptRun(ofRuns)})
    ) AS raised
    GROUP BY run_id, source, rule, if(rule = '', replaceRegexpAll(message, '[0-9]+', '0'), '')
  )`;

const KINDS: ReadonlySet<string> = new Set<ControlEventKind>(['WarningRaised', 'RunEnded']);

type AlarmRow = Omit<AlarmItem, 'runName'>;

@Injectable()
export class WarningsService {
  /** Alarms of each run, and under the empty id those of no run. */
  private readonly alarms: KeptOfAllRuns<readonly AlarmRow[]>;

  constructor(
    private readonly store: StoreService,
    private readonly runs: RunFactsReader,
    changes: ControlChanges,
  ) {
    this.alarms = new KeptOfAllRuns<readonly AlarmRow[]>({
      changes,
      dependsOn: ({ kind }) => KINDS.has(kind),
      read: (runIds) => this.readAlarms(runIds),
    });
  }

  /** Newest first. A warning that is raised between two pages moves those after it to the next page. */
  async list(runId: string, { limit, cursor }: PageQuery): Promise<Page<RunWarning>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const rows = await this.store.queryRows<RunWarning>(LIST_WARNINGS, { runId, skipped, limit: limit + 1 });
    return pageOf(rows, limit, {
      toItem: (row) => ({ ...row, raisedAt: isoTime(row.raisedAt) }),
      keyOf: () => [skipped + limit],
    });
  }

  /** Those of all runs but archived ones. An alarm that is raised between two pages moves others to the next page. */
  async listAlarms({ limit, cursor }: PageQuery): Promise<Page<AlarmItem>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const [alarmsOf, factsOf] = [await this.alarms.all(), await this.runs.all()];
    const alarms = Array.from(alarmsOf, ([runId, ofRun]) =>
      factsOf.get(runId)?.archived === true ? [] : ofRun,
    ).flat();
    alarms.sort(byNewest);
    return pageOf(alarms.slice(skipped, skipped + limit + 1), limit, {
      toItem: ({ firstRaisedAt, lastRaisedAt, ...row }) => ({
        ...row,
        runName: factsOf.get(row.runId)?.name ?? '',
        firstRaisedAt: isoTime(firstRaisedAt),
        lastRaisedAt: isoTime(lastRaisedAt),
      }),
      keyOf: () => [skipped + limit],
    });
  }

  private async readAlarms(runIds: readonly string[] | null): Promise<Map<string, AlarmRow[]>> {
    const sql = alarmsOf(runIds === null ? '' : 'AND run_id IN {runIds:Array(String)}');
    const rows = await this.store.queryRows<AlarmRow>(sql, { runIds: runIds ?? [] });
    const ofRun = new Map<string, AlarmRow[]>();
    for (const row of rows) {
      const others = ofRun.get(row.runId);
      if (others === undefined) ofRun.set(row.runId, [row]);
      else others.push(row);
    }
    return ofRun;
  }
}

/** Orders of the columns by which alarms are sorted: the newest first, and of one time those of the newest run. */
const DESCENDING = -1;
const ALARM_ORDER = [
  ...([
    ['lastRaisedAt', DESCENDING],
    ['runId', DESCENDING],
  ] as const),
  ...([
    ['source', 1],
    ['rule', 1],
    ['message', 1],
  ] as const),
] as const;

function byNewest(a: AlarmRow, b: AlarmRow): number {
  for (const [column, sign] of ALARM_ORDER)
    if (a[column] !== b[column]) return a[column] < b[column] ? -sign : sign;
  return 0;
}
