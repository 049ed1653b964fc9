import { getPolicyLoss } from '@retrace/algorithms';
import { packSequences } from '../packing/sequence-pack.js';
import type { SequenceBatch, SequenceLimits } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import { evaluateLoss, selectBatchTokens, type TokenColumns } from './evaluate-loss.js';
import { combineSums, type LossSums, type LossTerms } from './loss-terms.js';
import type { ChosenIds } from '@retrace/compute';
import { chosenIdsAt } from '../logprobs/teacher-top.js';
import { validateLossOptions, type LossOptions } from './loss-options.js';
import { newTokenFigures } from './token-figures.js';
import { validateTrainingBatch, type TrainingBatch } from './training-batch.js';

/** Sequences that go through a model together, and which of their tokens are wanted. */
export interface MicroBatch extends SequenceBatch {
  /** [N] 1 = evaluate this token given its prefix. */
  readonly mask: Uint8Array;
  /** [M] the places of the wanted tokens in the batch that this is a part of. */
  readonly positions: Int32Array;
  /** Where each sequence's wanted tokens begin among the M, and the end of the last. */
  readonly wantedOffsets: Int32Array;
}

/** Derivatives of a loss by the model's outputs for the wanted tokens of a micro-batch, all [M]; null where all are 0. */
export interface OutputGradients {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array | null;
  readonly values: Float32Array | null;
  /** [M·k] by the logprobs of the chosen ids. */
  readonly topLogprobs: Float32Array | null;
}

export interface PassOptions {
  readonly temperature: number;
  readonly keepsGraph: boolean;
  /** Ids whose logprobs are wanted beside those of the tokens; null: none. */
  readonly chosen: ChosenIds | null;
}

/**
 * A model that computes in another process, as a loss sees it: three numbers a token from it, three to it.
 *
 * Duties of an implementer: `forward` with `keepsGraph` keeps what the next `backward` needs; `backward` adds Σ g·output to the gradients of the
 * parameters, without any average, and is called once for each such `forward`, right after it.
 */
export interface TokenPasses {
  readonly limits: SequenceLimits & { readonly valueHead: boolean };
  /** The outputs for the wanted tokens, [M]; `values` is null for a model without a value head. */
  forward(microBatch: MicroBatch, options: PassOptions): Promise<TokenColumns>;
  backward(gradients: OutputGradients): Promise<void>;
}

/**
 * Cuts a batch into micro-batches of at most `maxTokens` tokens that together hold each wanted token once; a sequence is never cut, and a
 * longer one has a micro-batch of its own. Sequences without a wanted token, and what follows a sequence's last one, are left out. The first
 * token of a sequence is never wanted, as nothing predicts it.
 *
 * @param wanted [N] other than 0 for the wanted tokens
 */
export function cutMicroBatches(
  batch: SequenceBatch,
  wanted: ArrayLike<number>,
  maxTokens: number,
): MicroBatch[] {
  const readMask = new Uint8Array(wanted.length);
  for (let n = 0; n < readMask.length; n++) readMask[n] = Number(wanted[n] !== 0);
  for (const first of batch.sequenceOffsets) if (first < readMask.length) readMask[first] = 0;
  return packSequences(batch, { readMask, maxTokens }).map((pack) => {
    const mask = new Uint8Array(pack.tokenIds.length).fill(pack.readCells === null ? 1 : 0);
    for (const cell of pack.readCells ?? []) mask[cell] = 1;
    return {
      tokenIds: pack.tokenIds,
      sequenceOffsets: pack.offsets,
      mask,
      positions: pack.readPositions,
      wantedOffsets: pack.readOffsets,
    };
  });
}

/**
 * Adds the gradient of a batch's loss to what a model that computes elsewhere has accumulated: for each micro-batch a forward pass there, the
 * loss and its derivatives here, a backward pass there. Loss, gradient and terms are those of `PolicyOptimizer.accumulate`; a loss that ranks
 * the whole batch evaluates it once before.
 *
 * Where this rejects, some micro-batches may be accumulated already: the caller drops them.
 *
 * @throws PolicyError `INVALID_BATCH`, `INVALID_CONFIG` before any pass; `NOT_FINITE`
 */
export async function accumulateLoss(
  passes: TokenPasses,
  batch: TrainingBatch,
  options: LossOptions,
): Promise<LossTerms> {
  validateLossOptions(options);
  validateTrainingBatch(batch, options, passes.limits);
  const usesValues = options.valueCoefficient !== 0;
  if (usesValues && !passes.limits.valueHead) {
    throw new PolicyError(
      'INVALID_CONFIG',
      `valueCoefficient is ${options.valueCoefficient}; the model has no value head, so it must be 0`,
    );
  }
  const microBatches = cutMicroBatches(batch, batch.lossWeights, options.maxTokensPerMicroBatch);
  const selected = await selectTokens(passes, batch, microBatches, options);
  const figures = options.recordsTokens === true ? newTokenFigures(batch.tokenIds.length) : null;
  const sums: LossSums[] = [];
  for (const microBatch of microBatches) {
    const { distillation, temperature } = options;
    const chosen =
      distillation && batch.teacherTop ? chosenIdsAt(batch.teacherTop, microBatch.positions) : null;
    const outputs = await passes.forward(microBatch, { temperature, keepsGraph: true, chosen });
    const trained = { positions: microBatch.positions, offsets: microBatch.wantedOffsets, selected, figures };
    const read = { ...outputs, values: usesValues ? outputs.values : null };
    const evaluated = evaluateLoss(read, batch, trained, options);
    const { logprobs, entropies, values, topLogprobs = null } = evaluated.gradients;
    await passes.backward({
      logprobs,
      entropies: options.entropyCoefficient === 0 ? null : entropies,
      values,
      topLogprobs,
    });
    sums.push(evaluated.sums);
  }
  const terms = combineSums(sums);
  return figures === null ? terms : { ...terms, figures };
}

/** The tokens that a loss which ranks the whole batch keeps, [N]; null for other losses. */
async function selectTokens(
  passes: TokenPasses,
  batch: TrainingBatch,
  microBatches: readonly MicroBatch[],
  options: LossOptions,
): Promise<Uint8Array | null> {
  if (getPolicyLoss(options.policyLoss).scope !== 'batch') return null;
  const logprobs = new Float32Array(batch.tokenIds.length);
  for (const microBatch of microBatches) {
    const { temperature } = options;
    const outputs = await passes.forward(microBatch, { temperature, keepsGraph: false, chosen: null });
    microBatch.positions.forEach((n, m) => {
      logprobs[n] = outputs.logprobs[m];
    });
  }
  return selectBatchTokens(logprobs, batch, options);
}
