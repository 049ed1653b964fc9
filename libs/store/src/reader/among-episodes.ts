import { isUuid, TrajectoryError } from '@retrace/trajectory';

/**
 * The condition that a row is of one of these episodes.
 *
 * Ids go into the statement's text, because as parameters they would exceed the length of a URL; and as one literal, because the
 * engine parses and analyses a list item by item, which costs a quarter of a read of 2,048 episodes.
 *
 * @throws TrajectoryError `INVALID_ID` for an id that is no UUID
 */
export function amongEpisodes(episodeIds: readonly string[]): string {
  requireEpisodeIds(episodeIds);
  // The literal of none would name the episode '', which control records have.
  if (episodeIds.length === 0) return 'false';
  return `episode_id IN splitByChar(' ', '${episodeIds.join(' ')}')`;
}

/** @throws TrajectoryError `INVALID_ID` for an id that is no UUID */
export function requireEpisodeIds(ids: readonly string[]): void {
  const bad = ids.find((id) => !isUuid(id));
  if (bad === undefined) return;
  throw new TrajectoryError('INVALID_ID', `episode id is '${bad}'; must be a lower-case UUID`);
}
