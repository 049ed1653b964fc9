import type { AlarmItem } from '@retrace/api';
import { nameOfRule } from '@retrace/trajectory';
import type { CommonOptions } from '../../options.js';
import { findRun } from '../../run/find-run.js';
import { withApiReader } from '../../services/api-reader.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { renderRecords } from '../../terminal/table.js';

const PAGE = 500;

interface ListOptions extends CommonOptions {
  readonly run?: string;
}

/** Prints the alarms of runs that are not archived, newest first. */
export async function list({ dataDir, json, run }: ListOptions): Promise<void> {
  const alarms = await withStore({ dataDir }, async (session) => {
    const runId = run === undefined ? null : (await findRun(session.log, run)).runId;
    return readAlarms(session, { dataDir, runId });
  });
  if (json === true) console.log(JSON.stringify(alarms, null, 2));
  else if (alarms.length === 0) console.log('no alarms');
  else console.log(renderRecords(alarms.map(toRow)));
}

interface WantedAlarms {
  readonly dataDir: string;
  /** Null: of all runs. */
  readonly runId: string | null;
}

/** Reads the alarms that the log has now of one run, or of all; archived runs have none. */
export async function readAlarms(
  session: StoreSession,
  { dataDir, runId }: WantedAlarms,
): Promise<AlarmItem[]> {
  await session.catchUp();
  return withApiReader(session, dataDir, async (api) => {
    const alarms: AlarmItem[] = [];
    let cursor: string | null = null;
    do {
      const after = cursor === null ? '' : `&cursor=${cursor}`;
      const page: AlarmPage = await api.get(`/api/alarms?limit=${PAGE}${after}`);
      for (const alarm of page.items) if (runId === null || alarm.runId === runId) alarms.push(alarm);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return alarms;
  });
}

interface AlarmPage {
  readonly items: readonly AlarmItem[];
  readonly nextCursor: string | null;
}

function toRow({ rule, runId, runName, acknowledgement, silence, ...alarm }: AlarmItem) {
  return {
    alarm: nameOfRule(rule),
    run: runId === '' ? '' : `${runName} (${runId.slice(-8)})`,
    source: alarm.source,
    message: alarm.message,
    times: alarm.numTimes,
    last_raised: alarm.lastRaisedAt,
    acknowledged: acknowledgement === null ? '' : saidBy(acknowledgement),
    silenced:
      silence === null
        ? ''
        : `until ${silence.until}${silence.runId === '' ? ' in all runs' : ''} ${saidBy(silence)}`,
  };
}

function saidBy({ source, note }: { readonly source: string; readonly note: string }): string {
  return `by ${source}${note === '' ? '' : `: ${note}`}`;
}
