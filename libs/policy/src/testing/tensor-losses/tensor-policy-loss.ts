import { AlgorithmError, getPolicyLoss, resolvePolicyLossOptions } from '@retrace/algorithms';
import * as tf from '@retrace/compute/tensorflow';
import { PolicyError } from '../../policy-error.js';
import { surrogateLosses } from './surrogate-losses.js';
import type { TensorLossInput } from './tensor-loss.js';
import { weightedLogprobLosses } from './weighted-logprob-losses.js';

const losses = new Map([...surrogateLosses, ...weightedLogprobLosses].map((loss) => [loss.name, loss]));

/** Names of the policy losses that are there as tensor expressions: all of `@retrace/algorithms`, sorted. */
export function listTensorPolicyLosses(): string[] {
  return [...losses.keys()].sort();
}

/**
 * Σ_t w_t c_t ℓ_t of a policy loss, a scalar that the tape differentiates by `logprobs`: the second definition of each loss, from the
 * formula alone, for those who train with tensors of their own. It agrees with `computePolicyLoss` in value and gradient; sums are
 * float32 here. Losses that rank over the batch read what `selectLossTokens` picked as `selected`.
 *
 * @throws PolicyError `INVALID_CONFIG` for a name that no loss here has, or options that break their rule; `INVALID_BATCH` for columns
 * of unequal length, or one that the loss reads and that is null
 */
export function tensorPolicyLoss(
  name: string,
  input: TensorLossInput,
  options: Readonly<Record<string, unknown>> = {},
): tf.Scalar {
  const { formula, importance, resolved } = resolve(name, options);
  checkColumns(input);
  const { weights, importanceWeights = null } = input;
  return tf.tidy(() => {
    const factors = importanceWeights ? tf.mul(weights, importance(input, importanceWeights)) : weights;
    return tf.sum(tf.mul(factors, formula(input, resolved)));
  });
}

function resolve(name: string, options: Readonly<Record<string, unknown>>) {
  try {
    const loss = getPolicyLoss(name);
    const tensors = losses.get(name);
    if (tensors) return { ...tensors, resolved: resolvePolicyLossOptions(loss, options) };
  } catch (cause) {
    if (!(cause instanceof AlgorithmError)) throw cause;
    throw new PolicyError('INVALID_CONFIG', cause.message, { cause });
  }
  throw new PolicyError(
    'INVALID_CONFIG',
    `policy loss ${name} has no tensor expression; must be one of ${listTensorPolicyLosses().join(', ')}`,
  );
}

function checkColumns(input: TensorLossInput): void {
  const numTokens = input.offsets[input.offsets.length - 1];
  for (const column of [
    'logprobs',
    'proximalLogprobs',
    'advantages',
    'weights',
    'importanceWeights',
    'behaviorLogprobs',
    'selected',
  ] as const) {
    const shape = input[column]?.shape;
    if (shape && (shape.length !== 1 || shape[0] !== numTokens)) {
      throw new PolicyError(
        'INVALID_BATCH',
        `${column} has shape [${shape.join(', ')}], must be [${numTokens}], the tokens of offsets`,
      );
    }
  }
}
