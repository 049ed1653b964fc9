import type { EndReason } from '@retrace/trajectory';
import type { EpisodeListItem } from './episodes.dto.js';

/**
 * A record of `events` for an episode's start, its end or an annotation. The view `episodes` computes thirty aggregates before it cuts a page: 424 ms
 * beside a training run of ten minutes, against 30 ms for these records. The list is refreshed often, so it combines them itself.
 */
export interface EpisodeEndRow extends Omit<
  EpisodeListItem,
  'startedAt' | 'endedAt' | 'sealed' | 'endReason'
> {
  readonly kind: string;
  readonly logOffset: number | string;
  readonly occurredAt: string;
  /** Empty in an episode's start. */
  readonly endReason: EndReason | '';
  /** JSON of the tags that an annotation gave; `null` where it left them, empty in other records. */
  readonly annotatedTags: string;
}

export const EPISODE_END_COLUMNS = `episode_id, kind, log_offset, occurred_at, group_id, group_member, environment, split, agent,
    nullIf(environment_seed, -1) AS environment_seed, external_id, tags, if(kind = 'EpisodeAnnotated', payload, '') AS annotated_tags, end_reason, success, \`return\`, num_steps, num_tokens, num_action_tokens,
    policy_version_min, policy_version_max`;

/** Combines records into rows of the view `episodes`. Records of one episode are neighbours; an episode without its start is left out. */
export function toEpisodeListItems(records: readonly EpisodeEndRow[]): EpisodeListItem[] {
  const episodes: EpisodeListItem[] = [];
  for (let from = 0; from < records.length;) {
    let to = from + 1;
    while (to < records.length && records[to].episodeId === records[from].episodeId) to++;
    const episode = findEpisode(records.slice(from, to));
    if (episode !== null) episodes.push(episode);
    from = to;
  }
  return episodes;
}

function findEpisode(records: readonly EpisodeEndRow[]): EpisodeListItem | null {
  const start = findFirst(records, 'EpisodeStarted');
  if (start === null) return null;
  const end = findFirst(records, 'EpisodeEnded');
  return {
    episodeId: start.episodeId,
    externalId: start.externalId,
    tags: newestTags(records) ?? start.tags,
    groupId: start.groupId,
    groupMember: start.groupMember,
    environment: start.environment,
    split: start.split,
    agent: start.agent,
    environmentSeed: start.environmentSeed,
    startedAt: start.occurredAt,
    endedAt: end?.occurredAt ?? null,
    sealed: end !== null,
    endReason: end === null || end.endReason === '' ? null : end.endReason,
    success: end?.success ?? null,
    return: end?.return ?? null,
    numSteps: end?.numSteps ?? null,
    numTokens: end?.numTokens ?? null,
    numActionTokens: end?.numActionTokens ?? null,
    policyVersionMin: end?.policyVersionMin ?? null,
    policyVersionMax: end?.policyVersionMax ?? null,
  };
}

/** The tags of the newest annotation that gave some; null where none did. */
function newestTags(records: readonly EpisodeEndRow[]): readonly string[] | null {
  const newest = findNewest(records.filter(({ annotatedTags }) => !['', 'null'].includes(annotatedTags)));
  return newest === null ? null : (JSON.parse(newest.annotatedTags) as string[]);
}

/** The newest record, by time and then by place in the log; null of none. */
export function findNewest<Row extends EpisodeEndRow>(records: readonly Row[]): Row | null {
  const isNewer = (a: Row, b: Row): boolean =>
    a.occurredAt === b.occurredAt ? Number(a.logOffset) > Number(b.logOffset) : a.occurredAt > b.occurredAt;
  return records.reduce<Row | null>(
    (best, record) => (best === null || isNewer(record, best) ? record : best),
    null,
  );
}

/** The first record of the kind in log order, as in the view: a repeated record changes nothing. */
export function findFirst<Row extends EpisodeEndRow>(records: readonly Row[], kind: string): Row | null {
  const ofKind = records.filter((record) => record.kind === kind);
  return ofKind.reduce<Row | null>(
    (first, record) =>
      first === null || Number(record.logOffset) < Number(first.logOffset) ? record : first,
    null,
  );
}
