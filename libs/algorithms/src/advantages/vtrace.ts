import { AlgorithmError } from '../errors.js';
import {
  checkLogprobs,
  checkOffsets,
  checkPositive,
  checkResults,
  checkUnitInterval,
  checkValues,
} from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';
import type { Columns } from './advantage-batch.js';
import { bootstrapValues, type GaeInput } from './gae.js';

export interface VtraceInput
  extends
    Columns<'offsets' | 'rewards' | 'values' | 'proximalLogprobs' | 'behaviorLogprobs'>,
    Pick<GaeInput, 'truncated' | 'finalValues' | 'gamma' | 'lambda'> {
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
  /** v, the targets of the critic `[N]`. */
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
  checkResults({ advantages, returns });
  return { advantages, returns };
}

function checkVtrace(input: VtraceInput): void {
  const { offsets, rewards, values, proximalLogprobs, behaviorLogprobs, gamma, lambda } = input;
  const { rhoMax, traceMax, policyRhoMax } = input;
  checkOffsets('offsets', offsets, rewards.length);
  checkValues({ rewards, values }, rewards.length);
  checkLogprobs({ proximalLogprobs, behaviorLogprobs }, rewards.length);
  checkUnitInterval({ gamma, lambda });
  checkPositive({ rhoMax, traceMax, policyRhoMax });
  if (rhoMax < traceMax) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `rhoMax is ${rhoMax}, must not be less than traceMax, ${traceMax}`,
    );
  }
}
