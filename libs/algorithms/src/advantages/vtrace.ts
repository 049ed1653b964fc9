import { AlgorithmError } from '../errors.js';
import { checkOffsets, checkPositive, checkUnitInterval, checkValues } from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';
import { bootstrapValues, type GaeInput } from './gae.js';

export interface VtraceInput extends Pick<GaeInput, 'truncated' | 'finalValues'> {
  /** Episodes over action tokens `[E + 1]`. */
  readonly offsets: Int32Array;
  readonly rewards: Float32Array;
  readonly values: Float32Array;
  /** logπ at the start of the update `[N]`. */
  readonly proximalLogprobs: Float32Array;
  /** logπ of the policy that sampled `[N]`. */
  readonly behaviorLogprobs: Float32Array;
  readonly gamma: number;
  readonly lambda: number;
  /** ρ̄: bound of the ratio in the TD error, which sets the policy whose value is learned. */
  readonly rhoMax: number;
  /** c̄: bound of the ratio in the trace, which sets how far corrections reach. */
  readonly traceMax: number;
  /** Bound of the ratio in the policy gradient. */
  readonly policyRhoMax: number;
}

export interface VtraceResult {
  /** min(ρ, ρ_pg)(r + γ v' − V) `[N]`. They hold the ratio already: an importance weight on top is refused. */
  readonly advantages: Float32Array;
  /** v, what the critic learns `[N]`. */
  readonly returns: Float32Array;
}

/**
 * V-trace (Espeholt et al., arXiv:1802.01561, eq. 1 and remark 2), ρ = exp(clamp(logπ_prox − logπ_b, ±20)):
 *
 *     δ_t = min(ρ_t, ρ̄)(r_t + γ V_{t+1} − V_t),   c_t = λ·min(ρ_t, c̄)
 *     v_t − V_t = δ_t + γ c_t (v_{t+1} − V_{t+1})
 *     A_t = min(ρ_t, ρ_pg)(r_t + γ v_{t+1} − V_t)
 *
 * After the last token v = V = 0, or `finalValues` where the episode is truncated. On policy with λ = 1 and bounds ≥ 1,
 * v is the Monte Carlo return.
 *
 * @throws AlgorithmError as `gae`; also unless ρ̄ ≥ c̄ (the paper's condition) and all bounds are > 0
 */
export function vtrace(input: VtraceInput): VtraceResult {
  const { offsets, rewards, values, proximalLogprobs, behaviorLogprobs, gamma, lambda } = input;
  const { rhoMax, traceMax, policyRhoMax } = input;
  checkVtrace(input);
  const bootstraps = bootstrapValues(offsets.length - 1, input);
  const advantages = new Float32Array(rewards.length);
  const returns = new Float32Array(rewards.length);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let nextValue = bootstraps === null ? 0 : bootstraps[episode];
    let nextTarget = nextValue;
    for (let t = offsets[episode + 1] - 1; t >= offsets[episode]; t--) {
      const value = values[t];
      const ratio = Math.exp(
        clamp(proximalLogprobs[t] - behaviorLogprobs[t], -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT),
      );
      const delta = Math.min(ratio, rhoMax) * (rewards[t] + gamma * nextValue - value);
      const trace = lambda * Math.min(ratio, traceMax);
      advantages[t] = Math.min(ratio, policyRhoMax) * (rewards[t] + gamma * nextTarget - value);
      nextTarget = value + delta + gamma * trace * (nextTarget - nextValue);
      nextValue = value;
      returns[t] = nextTarget;
    }
  }
  return { advantages, returns };
}

function checkVtrace(input: VtraceInput): void {
  const numTokens = input.rewards.length;
  checkOffsets('offsets', input.offsets, numTokens);
  checkValues('rewards', input.rewards, numTokens);
  checkValues('values', input.values, numTokens);
  checkValues('proximalLogprobs', input.proximalLogprobs, numTokens);
  checkValues('behaviorLogprobs', input.behaviorLogprobs, numTokens);
  checkUnitInterval('gamma', input.gamma);
  checkUnitInterval('lambda', input.lambda);
  checkPositive('rhoMax', input.rhoMax);
  checkPositive('traceMax', input.traceMax);
  checkPositive('policyRhoMax', input.policyRhoMax);
  if (input.rhoMax < input.traceMax) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `rhoMax is ${input.rhoMax}, must not be less than traceMax, ${input.traceMax}`,
    );
  }
}
