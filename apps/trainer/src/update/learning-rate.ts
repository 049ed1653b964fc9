import type { OptimizerRecipe } from '@retrace/config';

/**
 * Learning rate of update `index` of `total`: linear warm-up over the first `warmupFraction`, constant, and from
 * `decayStartFraction` a decay to `finalFraction` of the peak at the last update, along a line or half a cosine; the schedule `constant` has no
 * decay. A schedule by updates, never by wall time, so that runs are reproducible.
 *
 * @param index 0 … total − 1
 */
export function learningRateAt(optimizer: OptimizerRecipe, index: number, total: number): number {
  const { learningRate, schedule = 'linear', warmupFraction, decayStartFraction, finalFraction } = optimizer;
  const warmupUpdates = warmupFraction * total;
  if (index < warmupUpdates) return (learningRate * (index + 1)) / (Math.floor(warmupUpdates) + 1);
  const decayStart = decayStartFraction * total;
  if (schedule === 'constant' || index <= decayStart || total - 1 <= decayStart) return learningRate;
  const progress = (index - decayStart) / (total - 1 - decayStart);
  const fallen = schedule === 'cosine' ? (1 - Math.cos(Math.PI * progress)) / 2 : progress;
  return learningRate * (1 - (1 - finalFraction) * fallen);
}
