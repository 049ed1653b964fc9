/*
 * What a policy says of the batch before anything is trained: the proximal policy, which the update starts from, with the check that it is the one
 * that sampled; the reference policy; and the critic's values of the observations at which episodes were cut.
 */
import type { TokenBatch } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import {
  evaluateActions,
  keepFirst,
  gather,
  maskOfTokens,
  type ActionOptions,
  type EvaluatedActions,
} from './action-tokens.js';
import type { UpdateBatch } from './read-batch.js';
import type { ReferencePolicy, UpdateNeeds } from './update-inputs.js';

interface ProximalOptions {
  readonly temperature: number;
  /** Whether the update reads logprobs of all sampled tokens, and Σ π²; else only those that are compared are computed. */
  readonly needs: Pick<UpdateNeeds, 'proximalLogprobs' | 'squaredProbabilities'>;
  readonly updateNumber: number;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
}

/** The batch in the view of the proximal policy. */
export interface ProximalLogprobs extends EvaluatedActions {
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
  batch: Pick<UpdateBatch, 'tokens' | 'sampled' | 'comparable' | 'behaviorLogprobs' | 'policyVersions'>,
  { temperature, needs, updateNumber, policyVersionIn }: ProximalOptions,
): Promise<ProximalLogprobs> {
  const compared = needs.proximalLogprobs
    ? batch.comparable
    : keepFirst(batch.comparable, NUM_TOKENS_COMPARED);
  const mask = needs.proximalLogprobs ? batch.sampled : compared;
  const { squaredProbabilities } = needs;
  const evaluated = await evaluateActions(engine, batch.tokens, { temperature, mask, squaredProbabilities });
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

/** The tokens as they were recorded, for updates that do not evaluate the policy. */
export function recordedLogprobs({
  behaviorLogprobs: logprobs,
}: Pick<UpdateBatch, 'behaviorLogprobs'>): ProximalLogprobs {
  const unknown = { values: null, sumSquaredProbabilities: null, ratioMaxDeviation: Number.NaN };
  return { logprobs, entropies: new Float32Array(logprobs.length), ...unknown };
}

interface RatioCheck {
  /** Largest |π_trainer / π_behavior − 1| over the tokens compared; NaN when there was none. */
  readonly maxDeviation: number;
  /** Mean of the same values, each limited to 1, so that no single token decides. */
  readonly meanDeviation: number;
  readonly numTokens: number;
}

/**
 * Compares the trainer's logprobs with the collector's on the tokens that `policyVersion` itself sampled.
 *
 * @param logprobs [A]
 * @param compared [A] 1 where `logprobs` holds a value
 */
export function compareOnPolicy(
  { behaviorLogprobs, policyVersions }: Pick<UpdateBatch, 'behaviorLogprobs' | 'policyVersions'>,
  logprobs: Float32Array,
  policyVersion: number,
  compared: Uint8Array,
): RatioCheck {
  let maxDeviation = 0;
  let sum = 0;
  let numTokens = 0;
  for (let a = 0; a < logprobs.length; a++) {
    if (compared[a] === 0 || policyVersions[a] !== policyVersion) continue;
    const deviation = Math.abs(Math.exp(logprobs[a] - behaviorLogprobs[a]) - 1);
    maxDeviation = Math.max(maxDeviation, deviation);
    sum += Math.min(deviation, 1);
    numTokens++;
  }
  return {
    maxDeviation: numTokens > 0 ? maxDeviation : Number.NaN,
    meanDeviation: sum / numTokens,
    numTokens,
  };
}

/** [A] logπ of the reference policy at the tokens that the mask marks; null without a reference. */
export async function computeReferenceLogprobs<Reference extends ReferencePolicy | null>(
  engine: UpdateEngine,
  reference: Reference,
  batch: TokenBatch,
  { temperature, mask: ofActions }: Pick<ActionOptions, 'temperature' | 'mask'>,
): Promise<Float32Array | Extract<Reference, null>> {
  if (reference === null) return null as Extract<Reference, null>;
  const options = { temperature, mask: maskOfTokens(batch, ofActions) };
  const logprobs = await (reference.kind === 'moving'
    ? engine.evaluateMovingReference(batch, options)
    : engine.evaluateReference(reference, batch, options));
  return gather(logprobs, batch.actionTokens);
}

/** Updates a moving reference after the steps of an update. */
export async function moveReference(engine: UpdateEngine, reference: ReferencePolicy | null): Promise<void> {
  if (reference?.kind === 'moving') await engine.moveReference(reference.decay);
}

/** [E] V(s_T) of the marked episodes, from their stored final observation; 0 for the others, which are not read. */
export function computeFinalValues(
  engine: UpdateEngine,
  { finalSequences: { tokenIds, sequenceOffsets } }: Pick<TokenBatch, 'finalSequences'>,
  bootstrapped: Uint8Array,
): Promise<Float32Array> {
  const kept = new Int32Array(sequenceOffsets.length);
  const parts = Array.from(bootstrapped, (isBootstrapped, e) => {
    const end = isBootstrapped ? sequenceOffsets[e + 1] : sequenceOffsets[e];
    const part = tokenIds.subarray(sequenceOffsets[e], end);
    kept[e + 1] = kept[e] + part.length;
    return part;
  });
  const joined = new Int32Array(kept[bootstrapped.length]);
  parts.forEach((part, e) => {
    joined.set(part, kept[e]);
  });
  return engine.evaluateEnds({ tokenIds: joined, sequenceOffsets: kept });
}
