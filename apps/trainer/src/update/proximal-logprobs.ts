import type { TokenBatch } from '@retrace/trajectory';
import type { EvaluatedTokens, UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import { compareOnPolicy } from './behavior-check.js';
import { firstOf } from './token-columns.js';
import type { UpdateNeeds } from './update-needs.js';

interface ProximalOptions {
  readonly temperature: number;
  /** [N] 1 at action tokens that were sampled to be trained. */
  readonly mask: Uint8Array;
  /** [N] 1 at those of them whose recorded logprob is that of the whole distribution. */
  readonly comparable: Uint8Array;
  /** Whether the update reads logprobs of all of them, and Σ π²; else only those that are compared are computed. */
  readonly needs: Pick<UpdateNeeds, 'proximalLogprobs' | 'squaredProbabilities'>;
  readonly updateNumber: number;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
}

/** The batch in the view of the proximal policy, which the update starts from. */
export interface ProximalLogprobs extends EvaluatedTokens {
  /** Largest |π_trainer / π_behavior − 1| over tokens that the same version sampled; NaN when there was none. */
  readonly ratioMaxDeviation: number;
}

/** Updates that need no logprobs of their own compare those of this many action tokens. */
const NUM_TOKENS_COMPARED = 256;

/**
 * Computes logprobs under the policy that the update starts from, and compares them with those that the collector recorded.
 *
 * @throws TrainerError `NOT_ON_POLICY` when trainer and collector disagree on tokens of the same policy version
 */
export async function computeProximalLogprobs(
  engine: Pick<UpdateEngine, 'evaluate' | 'ratioTolerance' | 'used'>,
  batch: TokenBatch,
  options: ProximalOptions,
): Promise<ProximalLogprobs> {
  const { temperature, needs, updateNumber, policyVersionIn } = options;
  const compared = needs.proximalLogprobs
    ? options.comparable
    : firstOf(options.comparable, NUM_TOKENS_COMPARED);
  const mask = needs.proximalLogprobs ? options.mask : compared;
  const { squaredProbabilities } = needs;
  const evaluated = await engine.evaluate(batch, { temperature, mask, squaredProbabilities });
  const { maxDeviation, meanDeviation } = compareOnPolicy(
    batch,
    evaluated.logprobs,
    policyVersionIn,
    compared,
  );
  // In 16 bits a few unlikely tokens differ by more although the weights are right; with other weights all tokens do.
  const isIn16Bits = engine.used.precision === 'bfloat16';
  const deviation = isIn16Bits ? meanDeviation : maxDeviation;
  if (deviation > engine.ratioTolerance) {
    throw new TrainerError(
      'NOT_ON_POLICY',
      `update ${updateNumber}: the trainer's probability of ${isIn16Bits ? 'the tokens' : 'a token'} that policy version ${policyVersionIn} ` +
        `sampled differs from the collector's by ${deviation.toExponential(2)}${isIn16Bits ? ' in the mean' : ''}; must be within ${engine.ratioTolerance}`,
    );
  }
  return { ...evaluated, ratioMaxDeviation: maxDeviation };
}
