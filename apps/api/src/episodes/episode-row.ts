import type { EndReason, Split } from '@retrace/trajectory';
import { isoTime, isoTimeOrNull } from '../store/store-time.js';
import type { EpisodeListItem } from './episodes.dto.js';

/** A row of the view `episodes`, as JSON gives it. */
export interface EpisodeRow {
  readonly episode_id: string;
  readonly group_id: string;
  readonly group_member: number;
  readonly environment: string;
  readonly split: Split;
  readonly agent: string;
  readonly environment_seed: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly sealed: boolean;
  readonly end_reason: EndReason | null;
  readonly success: boolean | null;
  readonly return: number | null;
  readonly num_steps: number | null;
  readonly num_tokens: number | null;
  readonly num_action_tokens: number | null;
  readonly policy_version_min: number | null;
  readonly policy_version_max: number | null;
}

export const EPISODE_COLUMNS = `episode_id, group_id, group_member, environment, split, agent, environment_seed, started_at,
    ended_at, sealed, end_reason, success, \`return\`, num_steps, num_tokens, num_action_tokens,
    policy_version_min, policy_version_max`;

export function toEpisodeListItem(row: EpisodeRow): EpisodeListItem {
  return {
    episodeId: row.episode_id,
    groupId: row.group_id,
    groupMember: row.group_member,
    environment: row.environment,
    split: row.split,
    agent: row.agent,
    environmentSeed: row.environment_seed,
    startedAt: isoTime(row.started_at),
    endedAt: isoTimeOrNull(row.ended_at),
    sealed: row.sealed,
    endReason: row.end_reason,
    success: row.success,
    return: row.return,
    numSteps: row.num_steps,
    numTokens: row.num_tokens,
    numActionTokens: row.num_action_tokens,
    policyVersionMin: versionOrNull(row.policy_version_min),
    policyVersionMax: versionOrNull(row.policy_version_max),
  };
}

/** −1 in the store: no policy of this run. */
function versionOrNull(version: number | null): number | null {
  return version === null || version < 0 ? null : version;
}
