import { checkLogprobs, checkName, checkResults } from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';

/**
 * Estimators of KL(π‖π_ref) from one sampled token, d = logπ − logπ_ref (Schulman, "Approximating KL divergence",
 * 2020):
 *
 * - `k1` = d: unbiased, may be negative. Its gradient ∇logπ has mean 0 under π: it regularises nothing in a loss.
 * - `abs` = |d|: biased.
 * - `k2` = ½d²: biased, its gradient d·∇logπ is the gradient of KL on policy.
 * - `k3` = e^{−d} + d − 1: unbiased, never negative; d clamped to ±20, the result to ±10.
 */
export const KL_ESTIMATORS = ['k1', 'abs', 'k2', 'k3'] as const;
export type KlEstimator = (typeof KL_ESTIMATORS)[number];

const K3_LIMIT = 10;

export interface KlOptions {
  readonly estimator: KlEstimator;
  /** Keeps the value of the estimator but gives it the gradient of k2. Default false. */
  readonly straightThrough?: boolean;
  /**
   * logπ_prox of the policy that tokens count as sampled by `[N]`: each value is multiplied by ρ = π/π_prox, with its gradient, which
   * makes estimates unbiased for a policy that has moved (DeepSeek-V3.2; TRL's `use_bias_correction_kl`). Null: they are not.
   */
  readonly proximalLogprobs?: Float32Array | null;
}

export interface KlTerms {
  /** KL estimate at each token `[N]`, nats. */
  readonly values: Float32Array;
  /** Derivative of each value with respect to logπ of its token `[N]`; 0 where a clamp holds it. */
  readonly gradients: Float32Array;
}

/**
 * The estimator at each token, with its derivative. `logprobs [N]`, `referenceLogprobs [N]`, nats.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for unequal lengths, logprobs that are not finite or over 0, an unknown estimator; `OVERFLOW`
 * for an estimate beyond float32
 */
export function estimateKl(
  logprobs: Float32Array,
  referenceLogprobs: Float32Array,
  options: KlOptions,
): KlTerms {
  const { estimator, straightThrough = false, proximalLogprobs = null } = options;
  checkName('estimator', estimator, KL_ESTIMATORS);
  checkLogprobs(
    { logprobs, referenceLogprobs, ...(proximalLogprobs && { proximalLogprobs }) },
    logprobs.length,
  );
  const values = new Float32Array(logprobs.length);
  const gradients = new Float32Array(logprobs.length);
  const differentiated = straightThrough ? 'k2' : estimator;
  for (let t = 0; t < values.length; t++) {
    const d = logprobs[t] - referenceLogprobs[t];
    values[t] = estimateKlTerm(estimator, d);
    gradients[t] = klGradient(differentiated, d);
    if (proximalLogprobs === null) continue;
    const logRatio = logprobs[t] - proximalLogprobs[t];
    const held = clamp(logRatio, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
    const ratio = Math.exp(held);
    gradients[t] = ratio * (gradients[t] + (held === logRatio ? estimateKlTerm(differentiated, d) : 0));
    values[t] *= ratio;
  }
  checkResults({ values, gradients });
  return { values, gradients };
}

/** The estimate for one log ratio d = logπ − logπ_ref, which must be finite. */
export function estimateKlTerm(estimator: KlEstimator, d: number): number {
  switch (estimator) {
    case 'k1':
      return d;
    case 'abs':
      return Math.abs(d);
    case 'k2':
      return 0.5 * d * d;
    case 'k3': {
      const clamped = clamp(d, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      return Math.min(K3_LIMIT, Math.expm1(-clamped) + clamped);
    }
  }
}

function klGradient(estimator: KlEstimator, d: number): number {
  switch (estimator) {
    case 'k1':
      return 1;
    case 'abs':
      return Math.sign(d);
    case 'k2':
      return d;
    case 'k3':
      return Math.abs(d) > LOG_RATIO_LIMIT || estimateKlTerm('k3', d) >= K3_LIMIT ? 0 : -Math.expm1(-d);
  }
}
