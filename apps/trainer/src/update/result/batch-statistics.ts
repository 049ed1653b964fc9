import type { Recipe } from '@retrace/config';
import type { EpisodeColumns } from '@retrace/trajectory';
import type { EvaluatedActions } from '../action-tokens.js';
import type { TokenAdvantages } from '../advantages.js';
import type { UpdateBatch } from '../read-batch.js';
import type { ScoredRewards } from '../rewards.js';
import type { MetricEntries } from '../../metric-entries.js';

type Values = Float32Array | Float64Array | Int32Array | Int8Array;

interface BatchParts {
  readonly episodes: Pick<EpisodeColumns, 'successes' | 'stepOffsets' | 'tokenOffsets' | 'keptPrefixTokens'>;
  readonly batch: Pick<UpdateBatch, 'tokens'>;
  readonly scored: Pick<
    ScoredRewards,
    'totals' | 'components' | 'componentNames' | 'trainedEpisodes' | 'stepOffsets'
  >;
  readonly advantages: Pick<TokenAdvantages, 'advantages' | 'returns'>;
  readonly proximal: Pick<EvaluatedActions, 'values'>;
  readonly recipe: Pick<Recipe, 'context' | 'agent'>;
}

/**
 * Mean, largest and smallest value over the batch of an update: of rewards and their components, advantages, returns, values, and the size of
 * episodes and turns; and the share of episodes that reached their goal. NaN where nothing was measured.
 */
export function batchStatistics({
  episodes,
  batch: { tokens },
  scored,
  advantages: { advantages, returns },
  proximal,
  recipe,
}: BatchParts): MetricEntries {
  // Values are left out where the estimator gives no targets for them.
  const values = returns && proximal.values;
  const known = episodes.successes.filter((success) => success >= 0);
  return [
    ...rangeMetrics('reward', scored.totals),
    ...scored.componentNames.map(
      (name, c) =>
        [
          `reward/component/${name}`,
          computeMean(rewarded(scored.components[c], scored.trainedEpisodes)),
        ] as const,
    ),
    ...rangeMetrics('advantage', advantages),
    ...(returns ? rangeMetrics('return', returns) : []),
    ...(values ? rangeMetrics('value', values) : []),
    ...rangeMetrics('episode/steps', computeLengths(episodes.stepOffsets)),
    ...rangeMetrics('episode/actionTokens', computeLengths(tokens.episodeActionOffsets)),
    ...rangeMetrics('sequence/tokens', computeLengths(tokens.sequenceOffsets)),
    ...turnStatistics(episodes, scored.stepOffsets, recipe),
    ['success/mean', computeMean(known)],
  ];
}

/**
 * Tokens of the turns and of the prompts that they answer, and the shares of turns at their limits.
 *
 * @param actionOffsets [S + 1] of the turns over the action tokens
 */
function turnStatistics(
  { tokenOffsets, keptPrefixTokens }: BatchParts['episodes'],
  actionOffsets: Int32Array,
  { context: { maxNewTokens }, agent }: BatchParts['recipe'],
): MetricEntries {
  const maxPromptTokens = agent?.maxPromptTokens ?? null;
  const answers = computeLengths(actionOffsets);
  const prompts = computeLengths(tokenOffsets).map(
    (count, step) => keptPrefixTokens[step] + count - answers[step],
  );
  return [
    ...rangeMetrics('turn/actionTokens', answers),
    ['turn/clippedFraction', computeShare(answers, (count) => count >= maxNewTokens)],
    ['turn/emptyFraction', computeShare(answers, (count) => count === 0)],
    ...rangeMetrics('turn/promptTokens', prompts),
    [
      'turn/clippedPromptFraction',
      maxPromptTokens === null ? Number.NaN : computeShare(prompts, (count) => count >= maxPromptTokens),
    ],
  ];
}

function computeShare(values: Int32Array, holds: (value: number) => boolean): number {
  return values.filter(holds).length / values.length;
}

/** Statistics of the values that are not NaN, which is missing. */
function rangeMetrics(name: string, values: Values): MetricEntries {
  let [sum, count, smallest, largest] = [0, 0, Infinity, -Infinity];
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
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

function computeMean(values: Values): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

function computeLengths(offsets: Int32Array): Int32Array {
  return offsets.subarray(1).map((end, row) => end - offsets[row]);
}
