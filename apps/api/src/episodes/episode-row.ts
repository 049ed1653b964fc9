import { isoTime, isoTimeOrNull } from '../store/store-time.js';
import type { EpisodeListItem } from './episodes.dto.js';

/** @param row of the view `episodes`, with times and versions as the store has them */
export function toEpisodeListItem(row: EpisodeListItem): EpisodeListItem {
  return {
    ...row,
    startedAt: isoTime(row.startedAt),
    endedAt: isoTimeOrNull(row.endedAt),
    policyVersionMin: versionOrNull(row.policyVersionMin),
    policyVersionMax: versionOrNull(row.policyVersionMax),
  };
}

/** −1 in the store: no policy of this run. */
function versionOrNull(version: number | null): number | null {
  return version === null || version < 0 ? null : version;
}
