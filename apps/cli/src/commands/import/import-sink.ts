import { toEpisodeId, RecordingError, type Recorder } from '@retrace/recording';
import type { CurrentReward, RecordSink } from '@retrace/importers';
import { amongEpisodes } from '@retrace/store';
import type { Json } from '@retrace/trajectory';
import type { StoreSession } from '../../services/connection.js';

/** Removes from a record what the rules of redaction name; absent where there are none. */
export type RecordRedaction = Pick<NonNullable<Parameters<typeof Recorder.open>[2]>, 'redact'>;

interface ImportedNotesRow {
  readonly episodeId: string;
  readonly importedTags: string;
  readonly importedMetadata: string;
}

/** Notes of imports about episodes: annotations replace tags and metadata of the start one by one; '' and `null` leave them. */
function importedNotesSql(episodeIds: readonly string[]): string {
  const newest = (column: string, unchanged: string) =>
    `argMaxIf(${column}, tuple(occurred_at, log_offset), kind = 'EpisodeAnnotated' AND source = 'import' AND ${column} != '${unchanged}')`;
  const first = (value: string) => `argMinIf(${value}, log_offset, kind = 'EpisodeStarted')`;
  return `SELECT episode_id AS episodeId,
      if(${newest('payload', 'null')} = '', ${first('toJSONString(tags)')}, ${newest('payload', 'null')}) AS importedTags,
      if(${newest('metadata', '')} = '', ${first('metadata')}, ${newest('metadata', '')}) AS importedMetadata
    FROM (SELECT episode_id, kind, source, payload, tags, metadata, occurred_at, log_offset FROM events
      WHERE run_id = {runId:String} AND ${amongEpisodes(episodeIds)} AND kind IN ('EpisodeStarted', 'EpisodeAnnotated'))
    GROUP BY episode_id`;
}

/** The recorder and the store behind an import, bound to its run. */
export function importSink(
  recorder: Recorder,
  runId: string,
  { client, catchUp }: Pick<StoreSession, 'client' | 'catchUp'>,
  { redact }: RecordRedaction,
): RecordSink {
  return {
    numStepsOf: async (episode) => {
      await catchUp();
      const [row] = await client.queryRows<{ readonly numSteps: number }>(
        `SELECT toUInt32(num_steps) AS numSteps FROM episodes
         WHERE run_id = {runId:String} AND episode_id = {episodeId:String} AND sealed`,
        { params: { runId, episodeId: toEpisodeId(runId, episode) } },
      );
      return row?.numSteps ?? null;
    },
    currentRewards: async (episodes) => {
      await catchUp();
      const names = new Map(episodes.map((episode) => [toEpisodeId(runId, episode), episode]));
      const rows = await client.queryRows<Omit<CurrentReward, 'episode'> & { readonly episodeId: string }>(
        `SELECT episode_id AS episodeId, step, name, value, source, rationale FROM current_rewards
         WHERE run_id = {runId:String} AND ${amongEpisodes([...names.keys()])}`,
        { params: { runId } },
      );
      return rows.map(({ episodeId, ...reward }) => ({ ...reward, episode: names.get(episodeId) ?? '' }));
    },
    importedNotes: async (episodes) => {
      await catchUp();
      const names = new Map(episodes.map((episode) => [toEpisodeId(runId, episode), episode]));
      const rows = await client.queryRows<ImportedNotesRow>(importedNotesSql([...names.keys()]), {
        params: { runId },
      });
      return rows.map(({ episodeId, importedTags, importedMetadata }) => ({
        episode: names.get(episodeId) ?? '',
        tags: JSON.parse(importedTags) as string[],
        metadata: JSON.parse(importedMetadata || 'null') as Json,
      }));
    },
    asStored: (record) => redact?.(record) ?? record,
    append: (records) => recorder.append(runId, records),
    refusalOf: (error) => {
      if (!(error instanceof RecordingError) || error.retriable || error.code === 'RUN_UNKNOWN') return null;
      const [fault] = error.faults;
      if (fault === undefined) return { message: error.message, fault: null };
      const message = `${error.message} (${fault.field} ${fault.rule})`;
      return { message, fault: error.code === 'INVALID_RECORDS' ? fault : null };
    },
  };
}
