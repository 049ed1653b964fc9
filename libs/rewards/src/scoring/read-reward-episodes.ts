import type { RewardEpisode } from '../episode.js';
import type { EndReason, Json } from '@retrace/trajectory';
import { amongEpisodes, type StoreClient } from '@retrace/store';
import type { IdentifiedEpisode } from './reward-scorer.js';

export interface RewardEpisodesQuery {
  readonly runId: string;
  readonly episodeIds: readonly string[];
  /** False leaves observations, actions, task and named reward parts empty, and unread. */
  readonly withTexts: boolean;
}

interface Row {
  readonly episodeId: string;
  readonly seq: number;
  readonly logOffset: number;
  readonly kind: 'EpisodeStarted' | 'StepRecorded' | 'EpisodeEnded';
  readonly environment: string;
  readonly endReason: EndReason;
  readonly success: boolean | null;
  readonly numSteps: number;
  readonly reward: number | null;
  readonly actionValid: boolean;
  readonly anchor: string | null;
  readonly numActionTokens: number;
  readonly task?: string;
  readonly observation?: string;
  readonly action?: string;
  readonly parsedAction?: string | null;
  readonly rewardNames?: readonly string[];
  readonly rewardValues?: readonly number[];
}

const TEXT_COLUMNS = `,
  if(kind = 'EpisodeStarted', JSONExtractRaw(payload, 'task'), '') AS task, observation, action,
  parsed_action AS parsedAction, reward_names AS rewardNames, reward_values AS rewardValues`;

/**
 * Sealed episodes as reward components see them, by id, without their tokens. Those that are not whole in the store are
 * left out. Like `TrajectoryReader`, it takes the first record in log order at each place.
 *
 * @throws TrajectoryError `INVALID_ID` for an id that is no UUID
 */
export async function readRewardEpisodes(
  client: StoreClient,
  { runId, episodeIds, withTexts }: RewardEpisodesQuery,
): Promise<IdentifiedEpisode[]> {
  if (episodeIds.length === 0) return [];
  const rows = await client.queryRows<Row>(
    `SELECT
       episode_id AS episodeId, seq, log_offset AS logOffset, kind, environment, end_reason AS endReason, success,
       num_steps AS numSteps, reward, action_valid OR action_valid_unknown AS actionValid, anchor,
       arraySum(action_mask) AS numActionTokens
       ${withTexts ? TEXT_COLUMNS : ''}
     FROM events
     WHERE run_id = {runId:String} AND ${amongEpisodes(episodeIds)}
       AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')
     ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
     LIMIT 1 BY run_id, episode_id, seq`,
    { params: { runId } },
  );
  const byEpisode = new Map<string, Row[]>();
  for (const row of rows) {
    const known = byEpisode.get(row.episodeId);
    if (known === undefined) byEpisode.set(row.episodeId, [row]);
    else known.push(row);
  }
  return [...byEpisode].flatMap(([episodeId, ofEpisode]) => {
    const episode = findEpisode(ofEpisode);
    return episode === null ? [] : [{ episodeId, episode }];
  });
}

/** null unless start, end and every step are there. */
function findEpisode(rows: readonly Row[]): RewardEpisode | null {
  const started = rows.find(({ kind }) => kind === 'EpisodeStarted');
  const [ended] = rows
    .filter(({ kind }) => kind === 'EpisodeEnded')
    .sort((a, b) => a.logOffset - b.logOffset);
  if (started === undefined || (ended as Row | undefined) === undefined) return null;
  const { numSteps } = ended;
  const steps = rows.filter(({ kind, seq }) => kind === 'StepRecorded' && seq <= numSteps);
  if (steps.length !== numSteps) return null;
  return {
    environment: started.environment,
    task: started.task === undefined || started.task === '' ? null : (JSON.parse(started.task) as Json),
    finalObservation: ended.observation ?? '',
    endReason: ended.endReason,
    success: ended.success,
    steps: steps.map((step) => ({
      observation: step.observation ?? '',
      action: step.action ?? '',
      parsedAction: step.parsedAction ?? null,
      rewardNames: step.rewardNames ?? [],
      rewardValues: step.rewardValues ?? [],
      actionValid: step.actionValid,
      anchor: step.anchor,
      reward: step.reward,
      numActionTokens: step.numActionTokens,
    })),
  };
}
