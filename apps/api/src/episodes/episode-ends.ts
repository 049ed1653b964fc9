import type { EndReason } from '@retrace/trajectory';
import type { EpisodeRow } from './episode-row.js';

/**
 * A record of `events` for an episode's start or end. The view `episodes` computes thirty aggregates before it cuts a page: 424 ms
 * beside a training run of ten minutes, against 30 ms for these records. The list is refreshed often, so it combines them itself.
 */
export interface EpisodeEndRow extends Omit<EpisodeRow, 'started_at' | 'ended_at' | 'sealed' | 'end_reason'> {
  readonly kind: string;
  readonly log_offset: number | string;
  readonly occurred_at: string;
  /** Empty in an episode's start. */
  readonly end_reason: EndReason | '';
}

export const EPISODE_END_COLUMNS = `episode_id, kind, log_offset, occurred_at, group_id, group_member, environment, split, agent,
    environment_seed, end_reason, success, \`return\`, num_steps, num_tokens, num_action_tokens,
    policy_version_min, policy_version_max`;

/** Combines records into rows of the view `episodes`. Records of one episode are neighbours; an episode without its start is left out. */
export function episodesOf(records: readonly EpisodeEndRow[]): EpisodeRow[] {
  const episodes: EpisodeRow[] = [];
  for (let from = 0; from < records.length;) {
    let to = from + 1;
    while (to < records.length && records[to].episode_id === records[from].episode_id) to++;
    const episode = episodeOf(records.slice(from, to));
    if (episode !== null) episodes.push(episode);
    from = to;
  }
  return episodes;
}

function episodeOf(records: readonly EpisodeEndRow[]): EpisodeRow | null {
  const start = firstOf(records, 'EpisodeStarted');
  if (start === null) return null;
  const end = firstOf(records, 'EpisodeEnded');
  return {
    episode_id: start.episode_id,
    group_id: start.group_id,
    group_member: start.group_member,
    environment: start.environment,
    split: start.split,
    agent: start.agent,
    environment_seed: start.environment_seed,
    started_at: start.occurred_at,
    ended_at: end?.occurred_at ?? null,
    sealed: end !== null,
    end_reason: end === null || end.end_reason === '' ? null : end.end_reason,
    success: end?.success ?? null,
    return: end?.return ?? null,
    num_steps: end?.num_steps ?? null,
    num_tokens: end?.num_tokens ?? null,
    num_action_tokens: end?.num_action_tokens ?? null,
    policy_version_min: end?.policy_version_min ?? null,
    policy_version_max: end?.policy_version_max ?? null,
  };
}

/** The first record of the kind in log order, as in the view: a repeated record changes nothing. */
function firstOf(records: readonly EpisodeEndRow[], kind: string): EpisodeEndRow | null {
  const ofKind = records.filter((record) => record.kind === kind);
  return ofKind.reduce<EpisodeEndRow | null>(
    (first, record) =>
      first === null || Number(record.log_offset) < Number(first.log_offset) ? record : first,
    null,
  );
}
