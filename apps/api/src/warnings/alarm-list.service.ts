import { Injectable } from '@nestjs/common';
import { holdsAt, readAlarmOccurrences, readSilences, silenceAt, type StoredSilence } from '@retrace/store';
import { type AlarmAcknowledgement, type ControlEventKind, RUN_FAILED } from '@retrace/trajectory';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { RunFactsReader } from '../runs/run-facts.js';
import { requestTimeMs } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { KeptOfAllRuns } from '../store/kept-of-all-runs.js';
import { isKeptRun } from '../store/kept-run.js';
import { isoTime, isoTimeOfUs } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { AlarmAcknowledgementBody, AlarmItem, AlarmSilenceItem } from './alarms.dto.js';

/**
 * Those of a monitor are one alarm of its run, whatever they say, as in Alertmanager; others are one where their texts differ only in numbers, as the
 * processes count them (`WarningLog`). A failed run is one, as it is where alarms are sent (`toAlarm`). `argMax` alone would pass over a step of null.
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
        run_id, 'system', '${RUN_FAILED}',
        concat('the run failed', if(detail = '', '', ': '), detail), CAST(NULL AS Nullable(Int64)), '', CAST([] AS Array(String)),
        toUInt64(1), occurred_at
      FROM (
        SELECT run_id, occurred_at, JSONExtractString(payload, 'detail') AS detail
        FROM events
        WHERE episode_id = '' AND kind = 'RunEnded' AND end_reason = 'failed' ${ofRuns} AND ${isKeptRun(ofRuns)})
    ) AS raised
    GROUP BY run_id, source, rule, if(rule = '', replaceRegexpAll(message, '[0-9]+', '0'), '')
  )`;

const KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  ...(['WarningRaised', 'RunEnded', 'AlarmAcknowledged', 'AlarmSilenced'] as const),
]);

interface AlarmRow extends Omit<AlarmItem, 'runName' | 'acknowledgement' | 'silence'> {
  readonly acknowledgement: AlarmAcknowledgement | null;
}

interface AlarmsOfRun {
  readonly alarms: AlarmRow[];
  /** The newest of each rule, whether they hold or not. */
  readonly silences: StoredSilence[];
}

/** Lists alarms, with what people did about them, and silences. */
@Injectable()
export class AlarmListService {
  /** Of each run; under the empty id alarms of no run, and silences of all runs. */
  private readonly kept: KeptOfAllRuns<AlarmsOfRun>;

  constructor(
    private readonly store: StoreService,
    private readonly runs: RunFactsReader,
    changes: ControlChanges,
  ) {
    this.kept = new KeptOfAllRuns<AlarmsOfRun>({
      changes,
      dependsOn: ({ kind }) => KINDS.has(kind),
      read: (runIds) => this.read(runIds),
    });
  }

  /** Those of all runs but archived ones. An alarm that is raised between two pages moves others to the next page. */
  async list({ limit, cursor }: PageQuery): Promise<Page<AlarmItem>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const [keptOf, factsOf] = [await this.kept.all(), await this.runs.all()];
    const alarms = Array.from(keptOf, ([runId, { alarms: ofRun }]) =>
      factsOf.get(runId)?.archived === true ? [] : ofRun,
    ).flat();
    alarms.sort(byNewest);
    const silences = heldSilences(keptOf);
    const nameOf = (runId: string): string => factsOf.get(runId)?.name ?? '';
    return makePage(alarms.slice(skipped, skipped + limit + 1), limit, {
      toItem: ({ firstRaisedAt, lastRaisedAt, acknowledgement, ...row }) => {
        const silence = silenceAt(silences, row, requestTimeUs());
        return {
          ...row,
          runName: nameOf(row.runId),
          firstRaisedAt: isoTime(firstRaisedAt),
          lastRaisedAt: isoTime(lastRaisedAt),
          acknowledgement: acknowledgement && acknowledgementBody(acknowledgement),
          silence: silence && silenceItem(silence, nameOf),
        };
      },
      keyOf: () => [skipped + limit],
    });
  }

  /** Silences that hold, those that end last first. */
  async listSilences({ limit, cursor }: PageQuery): Promise<Page<AlarmSilenceItem>> {
    const [skipped] = cursor ? decodeCursor(cursor, ['number']) : [0];
    const [keptOf, factsOf] = [await this.kept.all(), await this.runs.all()];
    const silences = heldSilences(keptOf).filter(({ runId }) => runId === '' || factsOf.has(runId));
    return makePage(silences.slice(skipped, skipped + limit + 1), limit, {
      toItem: (silence) => silenceItem(silence, (runId) => factsOf.get(runId)?.name ?? ''),
      keyOf: () => [skipped + limit],
    });
  }

  private async read(runIds: readonly string[] | null): Promise<Map<string, AlarmsOfRun>> {
    const sql = alarmsOf(runIds === null ? '' : 'AND run_id IN {runIds:Array(String)}');
    const { reader } = this.store;
    const [rows, occurrencesOf, silences] = await Promise.all([
      this.store.queryRows<Omit<AlarmRow, 'acknowledgement'>>(sql, { runIds: runIds ?? [] }),
      readAlarmOccurrences(reader, runIds),
      readSilences(reader, runIds),
    ]);
    const ofRun = new Map<string, AlarmsOfRun>();
    const at = (runId: string): AlarmsOfRun => {
      const known = ofRun.get(runId) ?? { alarms: [], silences: [] };
      ofRun.set(runId, known);
      return known;
    };
    for (const row of rows) {
      const acknowledgement = occurrencesOf.get(row.runId)?.acknowledgementOf(row) ?? null;
      at(row.runId).alarms.push({ ...row, acknowledgement });
    }
    for (const silence of silences) at(silence.runId).silences.push(silence);
    return ofRun;
  }
}

const requestTimeUs = (): number => requestTimeMs() * 1000;

/** Silences of all runs that hold at the moment of the request, those that end last first. */
function heldSilences(keptOf: ReadonlyMap<string, AlarmsOfRun>): StoredSilence[] {
  const nowUs = requestTimeUs();
  const held = [...keptOf.values()].flatMap(({ silences }) =>
    silences.filter((silence) => holdsAt(silence, nowUs)),
  );
  const keyOf = ({ runId, rule }: StoredSilence): string => `${runId} ${rule}`;
  return held.sort((a, b) => b.untilUs - a.untilUs || (keyOf(a) < keyOf(b) ? -1 : 1));
}

function acknowledgementBody({
  acknowledgedAtUs,
  ...acknowledgement
}: AlarmAcknowledgement): AlarmAcknowledgementBody {
  return { ...acknowledgement, acknowledgedAt: isoTimeOfUs(acknowledgedAtUs) };
}

function silenceItem(
  { untilUs, silencedAtUs, ...silence }: StoredSilence,
  nameOf: (runId: string) => string,
): AlarmSilenceItem {
  return {
    ...silence,
    runName: nameOf(silence.runId),
    silencedAt: isoTimeOfUs(silencedAtUs),
    until: isoTimeOfUs(untilUs),
  };
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
