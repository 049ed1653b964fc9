import {
  toOffsets,
  preferenceLoss,
  type PreferenceLossTerms,
  type PreferencePairs,
} from '@retrace/algorithms';
import type { OptimizerRecipe, PreferenceRecipe } from '@retrace/config';
import { Pcg32, shuffle } from '@retrace/random';
import { averageTerms, type LossTerms, type TrainingBatch } from '@retrace/policy';
import type { TokenBatch } from '@retrace/trajectory';
import type { StepLoss, UpdateEngine } from '../../engine/update-engine.js';
import { TrainerError } from '../../trainer-error.js';
import { gather, listPositions, scatter, sequenceActionOffsets } from '../action-tokens.js';
import type { UpdateColumns } from '../loss-columns.js';
import {
  gatherSequences,
  splitEvenly,
  stepTokens,
  type MiniBatchSize,
  type OptimizerStepTokens,
} from './mini-batches.js';
import type { UpdateOutcome } from './optimizer-steps.js';

/** The tokens of an update by preference. */
interface PairedTokens {
  readonly batch: Pick<
    TokenBatch,
    'tokenIds' | 'sequenceOffsets' | 'actionTokens' | 'episodeSequenceOffsets' | 'episodeActionOffsets'
  >;
  /** [A] 1 = of an episode that has a pair. */
  readonly trained: Uint8Array;
  /** [A] */
  readonly referenceLogprobs: Float32Array;
  readonly pairs: Pick<PreferencePairs, 'chosen' | 'rejected'>;
}

export interface PreferenceStepOptions {
  readonly learningRate: number;
  /** Seeds the order of the pairs in every epoch. */
  readonly seed: number;
  readonly preference: PreferenceRecipe;
  /** Of single tokens, whose policy term is −A·logπ. */
  readonly tokenLoss: StepLoss;
  readonly optimizer: MiniBatchSize & Pick<OptimizerRecipe, 'epochs' | 'maxGradientNorm'>;
}

/** Means over the pairs of a mini-batch, before its step. */
interface PairFigures {
  /** Share of the pairs whose chosen episode has the larger implicit reward. */
  readonly accuracy: number;
  /** Implicit reward of the chosen episode less that of the rejected one. */
  readonly margin: number;
  readonly chosenReward: number;
  readonly rejectedReward: number;
}

/** Means over the update's mini-batches; NaN where there was none. */
export type PreferenceOutcome = UpdateOutcome & PairFigures;

/** Gives every token the same weight; the derivatives of a pair are divided by that weight. */
const TOKEN_MEAN = { aggregation: 'tokenMean', horizon: null, denominator: 'all' } as const;

/**
 * Epochs of mini-batch steps on pairs; both episodes of a pair are in one mini-batch.
 *
 * The loss of a pair joins all tokens of two episodes, which a forward pass need not hold together. So each mini-batch is evaluated
 * first, without a gradient; that gives the derivative of the loss by the logprob of each token, which the engine then has as an
 * advantage. The gradient is that of the loss however the engine cuts the mini-batch.
 *
 * @throws TrainerError `NON_FINITE_LOSS` before any such gradient is applied
 */
export async function makePreferenceSteps(
  engine: Pick<UpdateEngine, 'evaluate' | 'accumulate' | 'step'>,
  tokens: PairedTokens,
  { learningRate, seed, preference, tokenLoss, optimizer }: PreferenceStepOptions,
): Promise<PreferenceOutcome> {
  const random = new Pcg32(seed);
  const columns = toColumns(tokens);
  const { maxGradientNorm } = optimizer;
  const steps: { terms: LossTerms; figures: PairFigures; gradientNorm: number; numTokens: number }[] = [];
  const trainedTokens: OptimizerStepTokens[] = [];
  for (let epoch = 0; epoch < optimizer.epochs; epoch++) {
    const order = Int32Array.from(tokens.pairs.chosen.keys());
    shuffle(order, random);
    for (const pairs of splitPairs(tokens, order, optimizer)) {
      const episodes = [...pairs].flatMap((pair) => [tokens.pairs.chosen[pair], tokens.pairs.rejected[pair]]);
      const sequences = listSequences(tokens.batch, episodes);
      const gathered = gatherSequences(columns, sequences, TOKEN_MEAN);
      const lengths = episodes.map((episode) => numActions(tokens.batch, episode));
      const evaluated = await evaluatePairs(engine, gathered.batch, lengths, {
        preference,
        temperature: tokenLoss.temperature,
      });
      const terms = await engine.accumulate(evaluated.batch, tokenLoss);
      const loss = terms.loss - terms.policyLoss + evaluated.loss.loss;
      if (!Number.isFinite(loss)) {
        throw new TrainerError('NON_FINITE_LOSS', `loss is ${loss} in epoch ${epoch}; must be finite`);
      }
      const { gradientNorm } = await engine.step({ learningRate, maxGradientNorm });
      if (terms.figures) trainedTokens.push(stepTokens(gathered, evaluated.batch, terms.figures));
      steps.push({
        terms: { ...terms, loss, policyLoss: evaluated.loss.loss },
        figures: computeFigures(evaluated.loss),
        gradientNorm,
        numTokens: gathered.batch.tokenIds.length,
      });
    }
  }
  const mean = (of: (step: (typeof steps)[number]) => number) =>
    steps.reduce((sum, step) => sum + of(step), 0) / steps.length;
  return {
    ...averageTerms(steps.map(({ terms }) => terms)),
    // The step starts from the same policy at which the derivatives were taken, so there is no ratio to clip.
    clipFraction: Number.NaN,
    approximateKl: Number.NaN,
    gradientNorm: mean(({ gradientNorm }) => gradientNorm),
    criticGradientNorm: Number.NaN,
    numTrainedTokens: steps.reduce((sum, { numTokens }) => sum + numTokens, 0),
    numOptimizerSteps: steps.length,
    stepLosses: Float64Array.from(steps, ({ terms }) => terms.loss),
    stepGradientNorms: Float64Array.from(steps, ({ gradientNorm }) => gradientNorm),
    stepTokens: tokenLoss.recordsTokens === true ? trainedTokens : null,
    accuracy: mean(({ figures }) => figures.accuracy),
    margin: mean(({ figures }) => figures.margin),
    chosenReward: mean(({ figures }) => figures.chosenReward),
    rejectedReward: mean(({ figures }) => figures.rejectedReward),
  };
}

function toColumns({ batch, trained, referenceLogprobs }: PairedTokens): UpdateColumns {
  return {
    tokenIds: batch.tokenIds,
    sequenceOffsets: batch.sequenceOffsets,
    actionTokens: batch.actionTokens,
    sequenceActionOffsets: sequenceActionOffsets(batch),
    sequenceGroups: new Int32Array(batch.sequenceOffsets.length - 1),
    sequenceCopies: null,
    trainedMask: trained,
    keptMask: null,
    referenceLogprobs,
  };
}

/** The loss of a mini-batch of pairs, and the mini-batch with its derivatives as advantages. */
async function evaluatePairs(
  engine: Pick<UpdateEngine, 'evaluate'>,
  { referenceLogprobs = null, ...batch }: TrainingBatch,
  /** Action tokens of each episode; two episodes a pair, the chosen one first. */
  lengths: readonly number[],
  { preference, temperature }: { readonly preference: PreferenceRecipe; readonly temperature: number },
): Promise<{ readonly batch: TrainingBatch; readonly loss: PreferenceLossTerms }> {
  const mask = Uint8Array.from(batch.lossWeights, (weight) => Number(weight !== 0));
  const { logprobs } = await engine.evaluate(batch, { temperature, mask });
  const positions = listPositions(mask);
  const pairs = Int32Array.from({ length: lengths.length / 2 }, (_, pair) => 2 * pair);
  const loss = preferenceLoss(
    {
      offsets: toOffsets(lengths),
      logprobs: gather(logprobs, positions),
      referenceLogprobs: gather(referenceLogprobs as Float32Array, positions),
      chosen: pairs,
      rejected: pairs.map((first) => first + 1),
    },
    preference,
  );
  const advantages = loss.gradients.map((gradient, i) => -gradient / batch.lossWeights[positions[i]]);
  return {
    loss,
    batch: {
      ...batch,
      proximalLogprobs: logprobs,
      advantages: scatter(advantages, positions, mask.length),
    },
  };
}

function splitPairs(
  { batch, pairs }: PairedTokens,
  order: Int32Array,
  { miniBatchActionTokens = Infinity, miniBatchSequences }: MiniBatchSize,
): Int32Array[] {
  if (typeof miniBatchSequences === 'number') {
    return splitEvenly(order, new Array<number>(order.length).fill(2), miniBatchSequences);
  }
  const counts = Array.from(
    order,
    (pair) => numActions(batch, pairs.chosen[pair]) + numActions(batch, pairs.rejected[pair]),
  );
  return splitEvenly(order, counts, miniBatchActionTokens);
}

function numActions({ episodeActionOffsets }: PairedTokens['batch'], episode: number): number {
  return episodeActionOffsets[episode + 1] - episodeActionOffsets[episode];
}

/** The sequences of the episodes, one episode after the other. */
function listSequences(
  { episodeSequenceOffsets }: PairedTokens['batch'],
  episodes: readonly number[],
): Int32Array {
  return Int32Array.from(
    episodes.flatMap((episode) => {
      const first = episodeSequenceOffsets[episode];
      return Array.from({ length: episodeSequenceOffsets[episode + 1] - first }, (_, s) => first + s);
    }),
  );
}

function computeFigures({ chosenRewards, rejectedRewards }: PreferenceLossTerms): PairFigures {
  const mean = (of: (pair: number) => number) =>
    chosenRewards.reduce((sum, _, pair) => sum + of(pair), 0) / chosenRewards.length;
  return {
    accuracy: mean((pair) => Number(chosenRewards[pair] > rejectedRewards[pair])),
    margin: mean((pair) => chosenRewards[pair] - rejectedRewards[pair]),
    chosenReward: mean((pair) => chosenRewards[pair]),
    rejectedReward: mean((pair) => rejectedRewards[pair]),
  };
}
