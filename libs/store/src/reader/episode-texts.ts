import type { Json } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { amongEpisodes } from './among-episodes.js';

/** The texts of an episode that rewards may use beside its columns. */
export interface EpisodeTexts {
  readonly environment: string;
  /** The task that the environment was reset to. */
  readonly task: Json;
  readonly finalObservation: string;
  /** In step order. */
  readonly steps: readonly StepTexts[];
}

export interface StepTexts {
  readonly observation: string;
  readonly action: string;
  readonly parsedAction: string | null;
  readonly rewardNames: readonly string[];
  readonly rewardValues: readonly number[];
}

interface TextRow extends StepTexts {
  readonly episodeId: string;
  readonly kind: string;
  readonly environment: string;
  readonly payload: string;
}

/** Reads the texts of episodes, by episode id. The episodes must be complete in the store, so read their columns first. */
export async function queryEpisodeTexts(
  client: StoreClient,
  runId: string,
  episodeIds: readonly string[],
): Promise<Map<string, EpisodeTexts>> {
  const rows = await client.queryRows<TextRow>(
    `SELECT
       episode_id AS episodeId, kind, environment, payload, observation, action, parsed_action AS parsedAction,
       reward_names AS rewardNames, reward_values AS rewardValues
     FROM events
     WHERE run_id = {runId:String}
       AND ${amongEpisodes(episodeIds)}
       AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')
     ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
     LIMIT 1 BY run_id, episode_id, seq`,
    { params: { runId } },
  );
  const byEpisode = new Map<string, TextRow[]>();
  for (const row of rows) {
    const known = byEpisode.get(row.episodeId);
    if (known) known.push(row);
    else byEpisode.set(row.episodeId, [row]);
  }
  return new Map([...byEpisode].map(([episodeId, episodeRows]) => [episodeId, toTexts(episodeRows)]));
}

function toTexts(rows: readonly TextRow[]): EpisodeTexts {
  const started = rows.find((row) => row.kind === 'EpisodeStarted');
  const payload = JSON.parse(started?.payload ?? '{}') as { readonly task?: Json };
  return {
    environment: started?.environment ?? '',
    task: payload.task ?? null,
    finalObservation: rows.find((row) => row.kind === 'EpisodeEnded')?.observation ?? '',
    steps: rows.filter((row) => row.kind === 'StepRecorded'),
  };
}
