import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';
import type { TokenAdvantages } from './advantages.js';
import type { MetricEntries } from './metrics.js';
import type { ScoredRewards } from './score-rewards.js';

type Values = Float32Array | Float64Array | Int32Array | Int8Array;

interface BatchParts {
  readonly columns: Pick<EpisodeColumns, 'successes' | 'stepOffsets'>;
  readonly batch: Pick<TokenBatch, 'episodeActionOffsets' | 'sequenceOffsets'>;
  readonly scored: Pick<ScoredRewards, 'totals' | 'components' | 'componentNames' | 'trainedEpisodes'>;
  readonly credit: Pick<TokenAdvantages, 'advantages' | 'returns'>;
}

/**
 * Mean, largest and smallest value of what an update was made of: rewards and their components, advantages, returns, and the size of episodes; and the share of
 * those that reached their goal. NaN where nothing was measured.
 */
export function batchStatistics({ columns, batch, scored, credit }: BatchParts): MetricEntries {
  const known = columns.successes.filter((success) => success >= 0);
  return [
    ...rangeOf('reward', scored.totals),
    ...scored.componentNames.map(
      (name, c) =>
        [`reward/component/${name}`, meanOf(rewarded(scored.components[c], scored.trainedEpisodes))] as const,
    ),
    ...rangeOf('advantage', credit.advantages),
    ...(credit.returns ? rangeOf('return', credit.returns) : []),
    ...rangeOf('episode/steps', lengthsOf(columns.stepOffsets)),
    ...rangeOf('episode/actionTokens', lengthsOf(batch.episodeActionOffsets)),
    ...rangeOf('sequence/tokens', lengthsOf(batch.sequenceOffsets)),
    ['success/mean', meanOf(known)],
  ];
}

/** Of the values that are there; NaN = missing. */
function rangeOf(name: string, values: Values): MetricEntries {
  let [sum, count, smallest, largest] = [0, 0, Infinity, -Infinity];
  // eslint-disable-next-line @typescript-eslint/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    sum += value;
    count += 1;
    if (value < smallest) smallest = value;
    if (value > largest) largest = value;
  }
  if (count === 0) return [];
  return [
    [`${name}/mean`, sum / count],
    [`${name}/max`, largest],
    [`${name}/min`, smallest],
  ];
}

/** Those of the episodes that have a reward. */
function rewarded(component: Float32Array, trainedEpisodes: Uint8Array): Float32Array {
  return component.filter((_, episode) => trainedEpisodes[episode] === 1);
}

function meanOf(values: Values): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

function lengthsOf(offsets: Int32Array): Int32Array {
  return offsets.subarray(1).map((end, row) => end - offsets[row]);
}
