import type { CheckpointFile, PolicyPublished, UpdateApplied } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';

/** State of a run that a writer of its updates goes on from. */
export interface TrainingPosition {
  /** The event of the claim in force; `''` before the first. */
  readonly claimEventId: string;
  /** Of that claim; 0 before the first. */
  readonly epoch: number;
  /** Number of the newest planned update; 0 before the first. */
  readonly newestUpdate: number;
  /** Published versions, ascending. */
  readonly policyVersions: readonly number[];
}

/** Reads it from the events that count. The store must have all control events of the run. */
export async function readTrainingPosition(client: StoreClient, runId: string): Promise<TrainingPosition> {
  const [state] = await client.queryRows<TrainingPosition>(
    `SELECT
       argMaxIf(event_id, log_offset, kind = 'TrainerClaimed') AS claimEventId,
       maxIf(epoch, kind = 'TrainerClaimed') AS epoch,
       maxIf(update_number, kind = 'BatchPlanned') AS newestUpdate,
       arraySort(groupArrayIf(policy_version, kind = 'PolicyPublished')) AS policyVersions
     FROM current_trainer_events
     WHERE run_id = {runId:String}`,
    { params: { runId } },
  );
  return state;
}

/** A committed update, as its writer may have sent it before. */
export interface CommittedUpdate extends Pick<UpdateApplied, 'updateNumber'> {
  /** The version that it made. */
  readonly policyVersion: number;
  /** JSON. */
  readonly trainerState: string;
}

/** The update of a plan; null where none was committed. */
export async function readCommittedUpdate(
  client: StoreClient,
  runId: string,
  planId: string,
): Promise<CommittedUpdate | null> {
  const [update] = await client.queryRows<CommittedUpdate | undefined>(
    `SELECT update_number AS updateNumber, policy_version AS policyVersion, JSONExtractRaw(payload, 'trainerState') AS trainerState
     FROM current_trainer_events
     WHERE run_id = {runId:String} AND kind = 'UpdateApplied' AND plan_id = {planId:String}`,
    { params: { runId, planId } },
  );
  return update ?? null;
}

/** A published version, but for the epoch that it was written under. */
export type PublishedVersion = Omit<PolicyPublished, 'epoch'>;

/** A version of the run; null where it was not published. */
export async function readPublishedVersion(
  client: StoreClient,
  runId: string,
  policyVersion: number,
): Promise<PublishedVersion | null> {
  const [row] = await client.queryRows<(Omit<PublishedVersion, 'weights'> & CheckpointFile) | undefined>(
    `SELECT policy_version AS policyVersion, parent_version AS parentVersion, update_number AS updateNumber,
       weights_sha256 AS sha256, weights_size_bytes AS sizeBytes, location, model_hash AS modelHash
     FROM policies
     WHERE run_id = {runId:String} AND policy_version = {policyVersion:Int64}`,
    { params: { runId, policyVersion } },
  );
  if (row === undefined) return null;
  const { sha256, sizeBytes, ...version } = row;
  return { ...version, weights: { sha256, sizeBytes } };
}

/** An episode that has ended, and where it belongs. */
export interface EpisodeOfUpdate {
  readonly runId: string;
  readonly episodeId: string;
  readonly groupId: string;
  readonly numSteps: number;
}

/** Episode ids in one query: about 40 kB of its text. */
const IDS_PER_QUERY = 1_000;

/** Those of a run's episodes with these ids that have ended, by id. */
export async function readSealedEpisodes(
  client: StoreClient,
  runId: string,
  episodeIds: readonly string[],
): Promise<ReadonlyMap<string, EpisodeOfUpdate>> {
  const found = new Map<string, EpisodeOfUpdate>();
  for (let from = 0; from < episodeIds.length; from += IDS_PER_QUERY) {
    const rows = await client.queryRows<EpisodeOfUpdate>(
      `SELECT run_id AS runId, episode_id AS episodeId, group_id AS groupId, assumeNotNull(num_steps) AS numSteps
       FROM episodes
       WHERE run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)} AND sealed`,
      { params: { runId, episodeIds: episodeIds.slice(from, from + IDS_PER_QUERY) } },
    );
    for (const row of rows) found.set(row.episodeId, row);
  }
  return found;
}
