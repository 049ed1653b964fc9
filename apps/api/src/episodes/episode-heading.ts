import type { Json } from '@retrace/trajectory';
import {
  EPISODE_END_COLUMNS,
  type EpisodeEndRow,
  toEpisodeListItems,
  findFirst,
  findNewest,
} from './episode-ends.js';
import { toEpisodeListItem } from './episode-row.js';
import type { EpisodeListItem } from './episodes.dto.js';
import type { ForkOrigin } from './forks.dto.js';
import { parseJson } from './step-row.js';

/** A record of an episode's start, its end or an annotation, with what only the page of the episode shows. */
export interface EpisodeRecordRow extends EpisodeEndRow {
  /** JSON. */
  readonly payload: string;
  /** JSON; empty for none. */
  readonly metadata: string;
  /** Empty for none. */
  readonly parentEpisodeId: string;
  /** Empty for none, or the episode's own run. */
  readonly forkedFromRunId: string;
  /** Of an end: the final one. */
  readonly observation: string;
}

/** An episode as its page shows it, but for its steps. */
export interface EpisodeHeading extends EpisodeListItem {
  readonly task: Json;
  readonly metadata: Json;
  readonly parentEpisodeId: string | null;
  readonly forkedFrom: ForkOrigin | null;
  readonly finalObservation: string | null;
  readonly endDetail: string;
}

/** The records of one episode, by the parameters `runId` and `episodeId`. They take half of the time of the view `stored_episodes`. */
export const GET_EPISODE_RECORDS = `
  SELECT ${EPISODE_END_COLUMNS}, payload, metadata, parent_episode_id, forked_from_run_id, observation
  FROM events
  WHERE run_id = {runId:String} AND episode_id = {episodeId:String} AND kind IN ('EpisodeStarted', 'EpisodeEnded', 'EpisodeAnnotated')`;

/** Combines the records of one episode into its row of the view `stored_episodes`; null without its start, where the view has a row once there is an end. */
export function readEpisodeHeading(
  runId: string,
  records: readonly EpisodeRecordRow[],
): EpisodeHeading | null {
  const [episode] = toEpisodeListItems(records);
  const start = findFirst(records, 'EpisodeStarted');
  if (start === null) return null;
  const end = findFirst(records, 'EpisodeEnded');
  const started = readPayload(start);
  const annotated = findNewest(records.filter((record) => isAnnotation(record) && record.metadata !== ''));
  return {
    ...toEpisodeListItem(episode),
    task: started.task ?? null,
    metadata: parseJson((annotated ?? start).metadata),
    parentEpisodeId: start.parentEpisodeId === '' ? null : start.parentEpisodeId,
    forkedFrom: findOrigin(started.forkedFrom ?? null, start.forkedFromRunId || runId),
    finalObservation: end?.observation ?? null,
    endDetail: end === null ? '' : (readPayload(end).endDetail ?? ''),
  };
}

interface EpisodePayload {
  readonly task?: Json;
  readonly forkedFrom?: Omit<ForkOrigin, 'runId'> | null;
  readonly endDetail?: string;
}

function isAnnotation({ kind }: EpisodeRecordRow): boolean {
  return kind === 'EpisodeAnnotated';
}

function readPayload({ payload }: EpisodeRecordRow): EpisodePayload {
  return (parseJson(payload) ?? {}) as EpisodePayload;
}

function findOrigin(from: Omit<ForkOrigin, 'runId'> | null, runId: string): ForkOrigin | null {
  return from === null ? null : { runId, episodeId: from.episodeId, step: from.step };
}
