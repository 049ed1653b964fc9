import { Injectable } from '@nestjs/common';
import { StoreService } from '../store/store.service.js';
import type { UpdateParams } from './update-inputs.dto.js';
import type { UpdateLineage } from './update-lineage.dto.js';

const MAX_LISTED = 50;

const INPUTS = 'FROM update_inputs WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64}';

const SAMPLED_BY = `
  SELECT run_id, policy_version, made_by, num_episodes
  FROM (
    SELECT run_id, if(oldest < 0, NULL, oldest) AS policy_version, count() AS num_episodes
    FROM (
      SELECT run_id, episode_id, argMin(policy_version_min, log_offset) AS oldest
      FROM events
      WHERE run_id IN (SELECT episode_run_id ${INPUTS}) AND episode_id IN (SELECT episode_id ${INPUTS}) AND kind = 'EpisodeEnded'
      GROUP BY run_id, episode_id
    )
    GROUP BY run_id, policy_version
  ) AS sampling
  LEFT JOIN (
    SELECT run_id, toNullable(policy_version) AS policy_version, toNullable(update_number) AS made_by
    FROM policies
    WHERE run_id IN (SELECT episode_run_id ${INPUTS})
  ) AS made USING (run_id, policy_version)
  ORDER BY num_episodes DESC, policy_version
  LIMIT ${MAX_LISTED}`;

/** Episodes of the policy that the update made. */
const SAMPLED = `
  SELECT DISTINCT episode_id
  FROM events
  WHERE run_id = {runId:String} AND kind = 'EpisodeEnded' AND policy_version_min IN (
    SELECT policy_version FROM policies WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64} AND policy_version > 0
  )`;

const FED = `
  SELECT run_id, update_number, uniqExact(episode_id) AS num_episodes
  FROM update_inputs
  WHERE episode_run_id = {runId:String} AND episode_id IN (${SAMPLED})
  GROUP BY run_id, update_number
  ORDER BY run_id != {runId:String}, run_id, update_number
  LIMIT ${MAX_LISTED}`;

/** Follows episodes through an update, both ways. */
@Injectable()
export class UpdateLineageService {
  constructor(private readonly store: StoreService) {}

  /** All lists are empty for an update that is not applied. */
  async lineage({ runId, updateNumber }: UpdateParams): Promise<UpdateLineage> {
    const params = { runId, updateNumber };
    const [sampledBy, [{ numSampled }], fed] = await Promise.all([
      this.store.queryRows<UpdateLineage['sampledBy'][number]>(SAMPLED_BY, params),
      this.store.queryRows<{ numSampled: number }>(`SELECT count() AS num_sampled FROM (${SAMPLED})`, params),
      this.store.queryRows<UpdateLineage['fed'][number]>(FED, params),
    ]);
    return { sampledBy, numSampled, fed };
  }
}
