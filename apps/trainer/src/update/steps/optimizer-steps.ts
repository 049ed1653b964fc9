import type { OptimizerRecipe } from '@retrace/config';
import { Pcg32 } from '@retrace/random';
import {
  averageTerms,
  type AppliedGradients,
  type LossTerms,
  type LossTermValues,
  type TrainingBatch,
} from '@retrace/policy';
import type { StepLoss, UpdateEngine } from '../../engine/update-engine.js';
import { TrainerError } from '../../trainer-error.js';
import type { UpdateColumns } from '../loss-columns.js';
import {
  gatherSequences,
  shuffledSequences,
  splitSequences,
  stepTokens,
  type AggregationRule,
  type MiniBatchSize,
  type OptimizerStepTokens,
} from './mini-batches.js';
import type { StepGuard } from './step-guard.js';

export interface StepOptions {
  readonly learningRate: number;
  /** null where the critic has that of the policy. */
  readonly criticLearningRate: number | null;
  /** Seeds the order of the sequences in every epoch. */
  readonly seed: number;
  readonly loss: StepLoss;
  readonly optimizer: MiniBatchSize & Pick<OptimizerRecipe, 'epochs' | 'maxGradientNorm'>;
  /** Passes that come before, over the same batch: those of a critic that is optimized apart (default: none). */
  readonly critic?: CriticPass | null;
  /** Whether nothing but those passes is made (default false). */
  readonly trainsOnlyCritic?: boolean;
  readonly aggregation: AggregationRule;
  readonly guard: StepGuard;
}

/** Steps of a critic by itself. */
export interface CriticPass {
  readonly loss: StepLoss;
  readonly optimizer: StepOptions['optimizer'];
}

/** Means over the update's mini-batches; NaN where there was none, as then nothing was measured. */
export interface UpdateOutcome extends LossTermValues {
  readonly gradientNorm: number;
  /** NaN where the critic has no optimizer steps of its own. */
  readonly criticGradientNorm: number;
  /** Tokens through forward and backward, all epochs. */
  readonly numTrainedTokens: number;
  /** Those that were made. */
  readonly numOptimizerSteps: number;
  /** [K] Of each optimizer step that was made. */
  readonly stepLosses: Float64Array;
  /** [K] Norms before they are scaled down. */
  readonly stepGradientNorms: Float64Array;
  /** [K] The tokens of each optimizer step that was made; null unless the loss records them. */
  readonly stepTokens: readonly OptimizerStepTokens[] | null;
}

/**
 * Epochs of mini-batch steps on one batch: each mini-batch's gradient is accumulated and applied once, unless the guard skips it or ends the
 * update before it. The steps of a critic that is optimized apart come first; its values and those of the policy come from other weights.
 *
 * @throws TrainerError `NON_FINITE_LOSS` before any such gradient is applied, unless the guard skips it; `STEPS_SKIPPED`
 */
export async function makeOptimizerSteps(
  engine: Pick<UpdateEngine, 'accumulate' | 'step' | 'discard'>,
  columns: UpdateColumns,
  options: StepOptions,
): Promise<UpdateOutcome> {
  const { critic = null, trainsOnlyCritic = false } = options;
  const ofCritic = critic && (await makePass(engine, columns, { ...options, ...critic }));
  const ofPolicy = trainsOnlyCritic ? NO_STEPS : await makePass(engine, columns, options);
  const steps = [...(ofCritic?.steps ?? []), ...ofPolicy.steps];
  const outcome = {
    ...averageTerms(ofPolicy.steps.map(({ terms }) => terms)),
    gradientNorm: computeMean(ofPolicy.steps, ({ gradientNorm }) => gradientNorm),
    criticGradientNorm: computeMean(
      (ofCritic ?? ofPolicy).steps,
      (step) => step.criticGradientNorm ?? Number.NaN,
    ),
    numTrainedTokens: steps.reduce((sum, { numTokens }) => sum + numTokens, 0),
    numOptimizerSteps: steps.length,
    stepLosses: Float64Array.from(steps, ({ terms }) => terms.loss),
    stepGradientNorms: Float64Array.from(steps, ({ gradientNorm }) => gradientNorm),
    stepTokens: options.loss.recordsTokens === true ? [...ofPolicy.tokens] : null,
  };
  if (ofCritic === null) return outcome;
  const { valueLoss, valueClipFraction } = averageTerms(ofCritic.steps.map(({ terms }) => terms));
  const loss = (trainsOnlyCritic ? 0 : outcome.loss) + (critic?.loss.valueCoefficient ?? 0) * valueLoss;
  return { ...outcome, loss, valueLoss, valueClipFraction };
}

interface MadePass {
  readonly steps: readonly MadeStep[];
  readonly tokens: readonly OptimizerStepTokens[];
}

const NO_STEPS: MadePass = { steps: [], tokens: [] };

/** The epochs of one loss. */
async function makePass(
  engine: Pick<UpdateEngine, 'accumulate' | 'step' | 'discard'>,
  columns: UpdateColumns,
  options: StepOptions,
): Promise<MadePass> {
  const { seed, optimizer, aggregation, guard } = options;
  const random = new Pcg32(seed);
  const steps: MadeStep[] = [];
  const tokens: OptimizerStepTokens[] = [];
  for (let epoch = 0; epoch < optimizer.epochs && !guard.isStopped; epoch++) {
    const order = shuffledSequences(columns, random);
    for (const [miniBatch, sequences] of splitSequences(columns, order, optimizer).entries()) {
      const gathered = gatherSequences(columns, sequences, aggregation);
      const made = await makeStep(engine, gathered.batch, { ...options, place: { epoch, miniBatch } });
      if (guard.isStopped) break;
      if (!made) continue;
      steps.push(made);
      const { figures } = made.terms;
      if (figures) tokens.push(stepTokens(gathered, gathered.batch, figures));
    }
  }
  return { steps, tokens };
}

function computeMean(steps: readonly MadeStep[], valueOf: (step: MadeStep) => number): number {
  return steps.reduce((sum, step) => sum + valueOf(step), 0) / steps.length;
}

interface MadeStep extends Pick<AppliedGradients, 'gradientNorm' | 'criticGradientNorm'> {
  readonly terms: LossTerms;
  /** Through forward and backward. */
  readonly numTokens: number;
}

/** One step; null where the guard skips it or ends the update. */
async function makeStep(
  engine: Pick<UpdateEngine, 'accumulate' | 'step' | 'discard'>,
  batch: TrainingBatch,
  {
    learningRate,
    criticLearningRate,
    loss,
    optimizer,
    guard,
    place,
  }: StepOptions & { readonly place: { readonly epoch: number; readonly miniBatch: number } },
): Promise<MadeStep | null> {
  const terms = await engine.accumulate(batch, loss);
  if (!Number.isFinite(terms.loss) && !guard.skipsNonFinite) {
    throw new TrainerError(
      'NON_FINITE_LOSS',
      `loss is ${terms.loss} in epoch ${place.epoch}; must be finite`,
    );
  }
  const isStopped = guard.stopsAt(terms.approximateKl, place);
  if (isStopped || !Number.isFinite(terms.loss)) {
    await engine.discard();
    if (!isStopped) guard.recordSkipped(`its loss is ${terms.loss}`, place);
    return null;
  }
  // A step of the critic alone has no gradient of the policy, whose norms the guard compares.
  const isOfCritic = loss.trains === 'critic';
  const skipNormAbove = isOfCritic ? guard.finiteLimit : guard.normLimit;
  const applied = await engine.step({
    learningRate,
    criticLearningRate: criticLearningRate ?? learningRate,
    maxGradientNorm: optimizer.maxGradientNorm,
    ...(loss.trains === undefined ? {} : { trains: loss.trains }),
    ...(skipNormAbove === undefined ? {} : { skipNormAbove }),
  });
  if (!applied.isApplied) {
    const norm = Math.max(applied.gradientNorm, applied.criticGradientNorm ?? 0);
    const limit = Number.isFinite(norm) ? `, more than ${skipNormAbove?.toPrecision(3)}` : '';
    guard.recordSkipped(`its gradient norm is ${norm.toPrecision(3)}${limit}`, place);
    return null;
  }
  if (!isOfCritic) guard.recordStep(applied.gradientNorm);
  return { ...applied, terms, numTokens: batch.tokenIds.length };
}
