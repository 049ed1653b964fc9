import type { EpisodeEnded, StepRecorded } from '../events/episode-events.js';
import { episodeTotals, stepTotals, type EpisodeTotals } from '../fold/episode/episode-totals.js';

/** Builds the payload that seals an episode with these steps, in order; `endDetail` is empty unless given. */
export function sealEpisode(
  steps: readonly StepRecorded[],
  end: Omit<EpisodeEnded, keyof EpisodeTotals | 'endDetail'> & { readonly endDetail?: string },
): EpisodeEnded {
  return { endDetail: '', ...end, ...episodeTotals(steps.map(stepTotals)) };
}
