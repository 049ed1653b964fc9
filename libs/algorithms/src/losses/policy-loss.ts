import { AlgorithmError } from '../errors.js';
import {
  checkFactors,
  checkFinite,
  checkLength,
  checkLogprobRange,
  checkLogprobs,
  checkMask,
  checkOffsets,
} from '../layout/check.js';
import { NamedRegistry, resolveOptions, type OptionSchema, type OptionsOf } from '../registry/index.js';

/** Input of policy losses. All arrays are over the action tokens `[N]` of the sequences that `offsets` cuts them into. */
export interface PolicyLossInput {
  /** Sequences over action tokens `[S + 1]`. */
  readonly offsets: Int32Array;
  /** logπ of the current policy; gradients are with respect to it. */
  readonly logprobs: Float32Array;
  /** logπ of the policy at the start of this update. */
  readonly proximalLogprobs: Float32Array;
  readonly advantages: Float32Array;
  /**
   * Weight w of each token's loss, from the aggregation, fixed. 0 leaves a token out of the loss and of all means and ranks.
   * The loss is Σ w c ℓ, so micro-batches add up.
   */
  readonly weights: Float32Array;
  /**
   * Factor c ≥ 0 on each token's loss that corrects for the policy that sampled, fixed `[N]`; null: 1. A token of factor 0 has no
   * loss of its own, but it still counts in means, ranks and statistics, as in verl. A loss that a sequence has only once takes the
   * geometric mean of its factors.
   */
  readonly importanceWeights?: Float32Array | null;
  /** logπ of the policy that sampled, for the losses that read it; else null. */
  readonly behaviorLogprobs?: Float32Array | null;
  /** The choice of `selectTokens` for these tokens `[N]`; null: these tokens are the whole batch. */
  readonly selected?: Uint8Array | null;
  /** Arrays to write results to instead of new ones `[≥ N]`; they are overwritten. `clipped` has no other way out. */
  readonly output?: PolicyLossOutput | null;
}

export interface PolicyLossOutput {
  readonly tokenLosses?: Float32Array;
  readonly gradients?: Float32Array;
  /** 1 for each token that counts as clipped in the statistics, whatever its weight; else 0. */
  readonly clipped?: Uint8Array;
}

export interface PolicyLossTerms {
  /** Σ_t w_t c_t ℓ_t. */
  readonly loss: number;
  /** ℓ_t of each token `[N]`, before weighting. A sequence's loss is repeated at each of its tokens. */
  readonly tokenLosses: Float32Array;
  /** Derivative of `loss` with respect to each logprob `[N]`. */
  readonly gradients: Float32Array;
  /** Figures to log, e.g. `clipFraction`; means over the tokens whose weight is not 0, and 0 where there is none. */
  readonly statistics: Readonly<Record<string, number>>;
}

export interface PolicyLoss<S extends OptionSchema = OptionSchema> {
  readonly name: string;
  /** Paper, equation. */
  readonly source: string;
  /**
   * Whether the loss of a token depends on the `token` itself, its `sequence` (which no micro-batch may cut), or a rank in
   * the whole `batch` (so `selectTokens` runs over all micro-batches first, and their cut does not change the loss).
   */
  readonly scope: 'token' | 'sequence' | 'batch';
  readonly needsBehaviorLogprobs: boolean;
  /** Whether the loss contains the ratio to the behavior policy; then importance weights are refused. */
  readonly correctsForBehavior: boolean;
  readonly options: S;
  /** For scope `batch`: marks with 1 the tokens that the rule of the loss picks out of a whole batch `[N]`. */
  readonly selectTokens?: (input: PolicyLossInput, options: OptionsOf<S>) => Uint8Array;
  /** Goes over the tokens by `overTokens` or `clippedSurrogate`, which also find inputs that are not finite. */
  compute(input: PolicyLossInput, options: OptionsOf<S>): PolicyLossTerms;
}

const registry = new NamedRegistry<PolicyLoss>(
  'policy loss',
  (code, message) => new AlgorithmError(code, message),
);

/** @throws AlgorithmError `DUPLICATE_NAME` when the name is taken */
export function definePolicyLoss<S extends OptionSchema>(loss: PolicyLoss<S>): PolicyLoss<S> {
  registry.define(loss as unknown as PolicyLoss);
  return loss;
}

/** @throws AlgorithmError `UNKNOWN_NAME`, naming the near ones */
export function getPolicyLoss(name: string): PolicyLoss {
  return registry.get(name);
}

/** Names of all policy losses, sorted. */
export function listPolicyLosses(): string[] {
  return registry.names();
}

/** An input that the loss declares it needs. @throws AlgorithmError `MISSING_INPUT` when it is called without */
export function requireBehaviorLogprobs({ behaviorLogprobs }: PolicyLossInput): Float32Array {
  if (behaviorLogprobs) return behaviorLogprobs;
  throw new AlgorithmError('MISSING_INPUT', 'behaviorLogprobs is needed; it is null');
}

/**
 * Checks options of a loss and fills in its defaults.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` naming the option, its value and its rule
 */
export function resolvePolicyLossOptions<S extends OptionSchema>(
  loss: PolicyLoss<S>,
  given: Readonly<Record<string, unknown>> = {},
): OptionsOf<S> {
  return resolveOptions(
    loss.options,
    given,
    (fault) => new AlgorithmError('INVALID_ARGUMENT', `policy loss ${loss.name}: ${fault}`),
  );
}

/**
 * First pass of a loss of scope `batch`: which tokens of the whole batch its rule picks `[N]`. The micro-batches of the
 * second pass get their part of it as `selected`. Null for the other losses, which need no first pass.
 *
 * @throws AlgorithmError as `computePolicyLoss`
 */
export function selectLossTokens(
  name: string,
  input: PolicyLossInput,
  options: Readonly<Record<string, unknown>> = {},
): Uint8Array | null {
  const loss = getPolicyLoss(name);
  const resolved = resolvePolicyLossOptions(loss, options);
  checkInput(loss, input);
  const { logprobs, proximalLogprobs, advantages, weights } = input;
  checkFinite({ logprobs, proximalLogprobs, advantages, weights });
  return loss.selectTokens?.(input, resolved) ?? null;
}

/**
 * Value and gradient of a policy loss. A loss of scope `batch` without `selected` takes the input for the whole batch.
 *
 * @throws AlgorithmError `UNKNOWN_NAME`; `INVALID_ARGUMENT` for arrays of unequal length, values that are not finite or logprobs over 0
 * (also where the weight is 0), options that break their rule; `MISSING_INPUT` when the loss reads the behavior policy and
 * `behaviorLogprobs` is null; `OVERFLOW` for a loss or gradient beyond float32
 */
export function computePolicyLoss(
  name: string,
  input: PolicyLossInput,
  options: Readonly<Record<string, unknown>> = {},
): PolicyLossTerms {
  const loss = getPolicyLoss(name);
  const resolved = resolvePolicyLossOptions(loss, options);
  checkInput(loss, input);
  const selected = input.selected ?? loss.selectTokens?.(input, resolved) ?? null;
  return loss.compute({ ...input, selected }, resolved);
}

/** All but finiteness, which `overTokens` sees to. */
function checkInput(loss: PolicyLoss, input: PolicyLossInput): void {
  const { proximalLogprobs, advantages, weights, importanceWeights, behaviorLogprobs = null } = input;
  const numTokens = input.logprobs.length;
  checkOffsets('offsets', input.offsets, numTokens);
  checkLength({ proximalLogprobs, advantages, weights }, numTokens);
  checkLogprobRange({ logprobs: input.logprobs, proximalLogprobs });
  if (importanceWeights) checkFactors({ importanceWeights }, numTokens);
  if (input.selected) checkMask('selected', input.selected, numTokens);
  if (behaviorLogprobs !== null) checkLogprobs({ behaviorLogprobs }, numTokens);
  else if (loss.needsBehaviorLogprobs) {
    throw new AlgorithmError('MISSING_INPUT', `policy loss ${loss.name} needs behaviorLogprobs; it is null`);
  }
}
