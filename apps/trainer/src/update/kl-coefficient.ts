import { adaptKlCoefficient } from '@retrace/algorithms';
import type { AdaptiveKlRecipe } from '@retrace/config';

interface MeasuredKl {
  /** Mean KL of an update; NaN where it trained nothing, and so measured nothing. */
  readonly meanKl: number;
  readonly numTrainedEpisodes: number;
}

/** β for the next update; null where it keeps the recipe's value. */
export function nextKlCoefficient(
  klCoefficient: number,
  rule: AdaptiveKlRecipe | null | undefined,
  { meanKl, numTrainedEpisodes }: MeasuredKl,
): number | null {
  if (!rule) return null;
  const numSamples = Number.isFinite(meanKl) ? numTrainedEpisodes : 0;
  return adaptKlCoefficient(klCoefficient, { meanKl: numSamples > 0 ? meanKl : 0, numSamples }, rule);
}
