import type { Recipe } from '@retrace/config';
import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';
import type { EvaluatedTokens } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import type { MetricEntries } from './metrics.js';
import type { ScoredRewards } from './score-rewards.js';
import { gather } from './token-columns.js';

type Values = Float32Array | Float64Array | Int32Array | Int8Array;

interface BatchParts {
  readonly columns: Pick<EpisodeColumns, 'successes' | 'stepOffsets' | 'tokenOffsets' | 'keptPrefixTokens'>;
  readonly batch: Pick<TokenBatch, 'actionTokens' | 'episodeActionOffsets' | 'sequenceOffsets'>;
  readonly scored: Pick<
    ScoredRewards,
    'totals' | 'components' | 'componentNames' | 'trainedEpisodes' | 'stepOffsets'
  >;
  readonly credit: Pick<TokenAdvantages, 'advantages' | 'returns'>;
  readonly proximal: Pick<EvaluatedTokens, 'values'>;
  readonly recipe: Pick<Recipe, 'context' | 'agent'>;
}

/**
 * Mean, largest and smallest value over the batch of an update: of rewards and their components, advantages, returns, values, and the size of
 * episodes and turns; and the share of episodes that reached their goal. NaN where nothing was measured.
 */
export function batchStatistics({
  columns,
  batch,
  scored,
  credit,
  proximal,
  recipe,
}: BatchParts): MetricEntries {
  // Values are left out where the estimator gives no targets for them.
  const values = credit.returns && proximal.values;
  const known = columns.successes.filter((success) => success >= 0);
  return [
    ...rangeOf('reward', scored.totals),
    ...scored.componentNames.map(
      (name, c) =>
        [`reward/component/${name}`, meanOf(rewarded(scored.components[c], scored.trainedEpisodes))] as const,
    ),
    ...rangeOf('advantage', credit.advantages),
    ...(credit.returns ? rangeOf('return', credit.returns) : []),
    ...(values ? rangeOf('value', gather(values, batch.actionTokens)) : []),
    ...rangeOf('episode/steps', lengthsOf(columns.stepOffsets)),
    ...rangeOf('episode/actionTokens', lengthsOf(batch.episodeActionOffsets)),
    ...rangeOf('sequence/tokens', lengthsOf(batch.sequenceOffsets)),
    ...turnStatistics(columns, scored.stepOffsets, recipe),
    ['success/mean', meanOf(known)],
  ];
}

/**
 * Tokens of the turns and of the prompts that they answer, and the shares of turns at their limits.
 *
 * @param actionOffsets [S + 1] of the turns over the action tokens
 */
function turnStatistics(
  { tokenOffsets, keptPrefixTokens }: BatchParts['columns'],
  actionOffsets: Int32Array,
  { context: { maxNewTokens }, agent }: BatchParts['recipe'],
): MetricEntries {
  const maxPromptTokens = agent?.maxPromptTokens ?? null;
  const answers = lengthsOf(actionOffsets);
  const prompts = lengthsOf(tokenOffsets).map(
    (count, step) => keptPrefixTokens[step] + count - answers[step],
  );
  return [
    ...rangeOf('turn/actionTokens', answers),
    ['turn/clippedFraction', shareOf(answers, (count) => count >= maxNewTokens)],
    ['turn/emptyFraction', shareOf(answers, (count) => count === 0)],
    ...rangeOf('turn/promptTokens', prompts),
    [
      'turn/clippedPromptFraction',
      maxPromptTokens === null ? Number.NaN : shareOf(prompts, (count) => count >= maxPromptTokens),
    ],
  ];
}

function shareOf(values: Int32Array, holds: (value: number) => boolean): number {
  return values.filter(holds).length / values.length;
}

/** Statistics of the values that are not NaN, which is missing. */
function rangeOf(name: string, values: Values): MetricEntries {
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

function meanOf(values: Values): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

function lengthsOf(offsets: Int32Array): Int32Array {
  return offsets.subarray(1).map((end, row) => end - offsets[row]);
}
