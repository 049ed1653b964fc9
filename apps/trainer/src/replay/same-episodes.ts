import { episodeDigests, type EpisodeColumns } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';
import type { RecordedUpdate } from './recorded-updates.js';

/**
 * Compares episodes with those that an update was computed from.
 *
 * @throws TrainerError `EPISODES_CHANGED`
 */
export function requireSameEpisodes(
  columns: EpisodeColumns,
  updateNumber: number,
  trace: RecordedUpdate['trace'],
): void {
  if (trace === null || trace.episodeDigests.length === 0) return;
  const recorded = new Map(trace.episodeIds.map((episodeId, e) => [episodeId, trace.episodeDigests[e]]));
  for (const [e, digest] of episodeDigests(columns).entries()) {
    const episodeId = columns.episodeIds[e];
    if (recorded.get(episodeId) === digest) continue;
    const what = `update ${updateNumber}: episode ${episodeId} is not what it was computed from`;
    const rule =
      'its columns in the store have another digest than its UpdateTraced states; `retrace verify` compares them all';
    throw new TrainerError('EPISODES_CHANGED', `${what}: ${rule}`);
  }
}
