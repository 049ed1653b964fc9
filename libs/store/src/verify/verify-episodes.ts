import { contentChecksum, EpisodeFold, type EpisodeState } from '@retrace/trajectory';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { EventRowReader } from '../rows/event-row-reader.js';
import { readEventRow } from '../rows/event-rows.js';
import type { FaultList } from './fault-list.js';

export interface EpisodeCounts {
  numEpisodes: number;
  numSealedEpisodes: number;
}

export interface EpisodesToVerify {
  readonly client: StoreClient;
  readonly faults: FaultList;
  readonly counts: EpisodeCounts;
  readonly signal: AbortSignal | undefined;
}

/** Rows a slice aims at; it ends with a whole episode. */
const ROWS_PER_SLICE = 2_000;

/** Episodes of a run that has not started are dead letters, and in no view. */
const RUN_IDS = `
  SELECT DISTINCT run_id FROM events
  WHERE episode_id != '' AND kind = 'EpisodeStarted'
    AND run_id IN (SELECT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted')
  ORDER BY run_id`;

const SLICE_END = `
  SELECT max(episode_id) AS last
  FROM (
    SELECT episode_id FROM events
    WHERE run_id = {runId:String} AND episode_id > {after:String}
    ORDER BY run_id, episode_id
    LIMIT ${ROWS_PER_SLICE}
  )`;

const IN_SLICE = 'run_id = {runId:String} AND episode_id > {after:String} AND episode_id <= {last:String}';

const SLICE_ROWS = `
  SELECT * FROM events
  WHERE ${IN_SLICE}
  ORDER BY run_id, episode_id, log_id, log_stream, log_partition, log_offset`;

const SLICE_VIEW = `
  SELECT
    episode_id, sealed, end_reason, success, return, num_steps, num_tokens, num_action_tokens, num_recorded_steps
  FROM episodes
  LEFT JOIN (SELECT episode_id, count() AS num_recorded_steps FROM steps WHERE ${IN_SLICE} GROUP BY episode_id) AS recorded
    USING (episode_id)
  WHERE ${IN_SLICE}`;

interface ViewRow {
  readonly episode_id: string;
  readonly sealed: boolean;
  readonly end_reason: string | null;
  readonly success: boolean | null;
  readonly return: number | null;
  readonly num_steps: number | null;
  readonly num_tokens: number | null;
  readonly num_action_tokens: number | null;
  readonly num_recorded_steps: number;
}

/** Folds every episode of the store from its rows and compares with what the views show. Holds one slice at a time. */
export async function verifyEpisodes(job: EpisodesToVerify): Promise<void> {
  const runs = await job.client.queryRows<{ run_id: string }>(RUN_IDS);
  for (const { run_id: runId } of runs) {
    let after = '';
    for (;;) {
      job.signal?.throwIfAborted();
      const [{ last }] = await job.client.queryRows<{ last: string }>(SLICE_END, {
        params: { runId, after },
      });
      if (last === '') break;
      await verifySlice(job, { runId, after, last });
      after = last;
    }
  }
}

async function verifySlice(
  job: EpisodesToVerify,
  params: { readonly runId: string; readonly after: string; readonly last: string },
): Promise<void> {
  const { client, counts, faults } = job;
  const rows = new EventRowReader(ArrowColumns.read(await client.queryArrow(SLICE_ROWS, { params })));
  const states = foldRows(rows, faults);
  const view = await client.queryRows<ViewRow>(SLICE_VIEW, { params });
  const viewRows = new Map(view.map((row) => [row.episode_id, row]));
  for (const state of states) {
    counts.numEpisodes++;
    if (state.sealed) counts.numSealedEpisodes++;
    const where = `run ${state.runId} episode ${state.episodeId}`;
    for (const problem of findProblems(state)) faults.add('EPISODE_INCONSISTENT', where, problem);
    const difference = compareWithView(state, viewRows.get(state.episodeId));
    if (difference !== null) faults.add('EPISODE_VIEW_DIFFERS', where, difference);
  }
}

function foldRows(rows: EventRowReader, faults: FaultList): EpisodeState[] {
  const states: EpisodeState[] = [];
  let fold: EpisodeFold | null = null;
  let episodeId = '';
  for (rows.row = 0; rows.row < rows.numRows; rows.row++) {
    const event = readEventRow(rows);
    const offset = rows.number('log_offset');
    if (contentChecksum(event) !== rows.hex16('content_checksum')) {
      const where = `${rows.text('log_stream')}/${rows.number('log_partition')} offset ${offset}`;
      faults.add(
        'ROW_DAMAGED',
        where,
        `the columns of ${event.kind} ${event.eventId} do not match its checksum`,
      );
    }
    if (fold === null || event.episodeId !== episodeId) {
      if (fold !== null) states.push(fold.state());
      fold = new EpisodeFold(event);
      episodeId = event.episodeId;
    }
    fold.apply(event);
  }
  if (fold !== null) states.push(fold.state());
  return states;
}

function findProblems(state: EpisodeState): string[] {
  const missing = state.missingSteps.map(({ from, end }) => `steps ${from} to ${end - 1} are missing`);
  return [...(state.started === null ? ['its start is missing'] : []), ...missing, ...state.faults];
}

/** Episodes that go on may have moved between the two readings; what is sealed stays as it is. */
function compareWithView({ ended, sealed, totals }: EpisodeState, row: ViewRow | undefined): string | null {
  if (ended === null) return null;
  if (row === undefined) return 'it is missing from the view episodes';
  const expected: Partial<ViewRow> = {
    sealed: true,
    end_reason: ended.endReason,
    success: ended.success,
    return: ended.return,
    num_steps: ended.numSteps,
    num_tokens: ended.numTokens,
    num_action_tokens: ended.numActionTokens,
    ...(sealed && { num_recorded_steps: totals.numSteps }),
  };
  for (const [name, value] of Object.entries(expected)) {
    const shown = row[name as keyof ViewRow];
    if (shown !== value) return `the views show ${name} ${shown}; its events say ${value}`;
  }
  return null;
}
