import { isUuid, TrajectoryError } from '@retrace/trajectory';

/**
 * Writes the condition that a row belongs to one of these episodes.
 *
 * The ids are part of the statement's text, because parameters are sent in the URL and would exceed its length. They are one literal,
 * because parsing and analysing a list of 2,048 ids takes a quarter of the read.
 *
 * @throws TrajectoryError `INVALID_ID` for an id that is no UUID
 */
export function amongEpisodes(episodeIds: readonly string[]): string {
  requireEpisodeIds(episodeIds);
  // An empty literal would match the episode id '' of control records.
  if (episodeIds.length === 0) return 'false';
  return `episode_id IN splitByChar(' ', '${episodeIds.join(' ')}')`;
}

/** @throws TrajectoryError `INVALID_ID` for an id that is no UUID */
export function requireEpisodeIds(ids: readonly string[]): void {
  const bad = ids.find((id) => !isUuid(id));
  if (bad === undefined) return;
  throw new TrajectoryError('INVALID_ID', `episode id is '${bad}'; must be a lower-case UUID`);
}
