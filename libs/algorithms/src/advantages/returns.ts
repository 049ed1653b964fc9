import {
  checkOffsets,
  checkPositiveInteger,
  checkResults,
  checkUnitInterval,
  checkValues,
} from '../layout/check.js';
import { bootstrapValues, gae, type GaeInput } from './gae.js';

export type ReturnsInput = Pick<GaeInput, 'offsets' | 'rewards' | 'gamma' | 'truncated' | 'finalValues'>;

/**
 * Monte Carlo returns, the discounted reward-to-go: G_t = r_t + γ G_{t+1}, `[N]`. After the last token G is 0, or
 * `finalValues` where the episode is truncated and they are given; without them a truncated episode simply ends.
 */
export function monteCarloReturns(input: ReturnsInput): Float32Array {
  const { offsets, rewards, gamma } = input;
  checkReturns(input);
  const bootstraps = (input.finalValues ?? null) === null ? null : bootstrapValues(offsets.length - 1, input);
  const returns = new Float32Array(rewards.length);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let toGo = bootstraps === null ? 0 : bootstraps[episode];
    for (let t = offsets[episode + 1] - 1; t >= offsets[episode]; t--) {
      toGo = rewards[t] + gamma * toGo;
      returns[t] = toGo;
    }
  }
  checkResults({ returns });
  return returns;
}

/**
 * n-step returns: G_t = Σ_{k<n} γ^k r_{t+k} + γⁿ V_{t+n}, `[N]`; where the episode ends sooner, the rest of it,
 * with the bootstrap of a truncated one. Sutton & Barto, Reinforcement Learning, 2nd ed., eq. 7.1.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` unless `numSteps` is an integer ≥ 1; else as `gae`
 */
export function nStepReturns(
  input: ReturnsInput & { readonly values: Float32Array; readonly numSteps: number },
): Float32Array {
  const { offsets, rewards, values, gamma, numSteps } = input;
  checkReturns(input);
  checkValues({ values }, rewards.length);
  checkPositiveInteger({ numSteps });
  const bootstraps = bootstrapValues(offsets.length - 1, input);
  const returns = new Float32Array(rewards.length);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    const end = offsets[episode + 1];
    const finalValue = bootstraps === null ? 0 : bootstraps[episode];
    for (let t = offsets[episode]; t < end; t++) {
      const stop = Math.min(t + numSteps, end);
      let sum = stop < end ? values[stop] : finalValue;
      for (let k = stop - 1; k >= t; k--) sum = rewards[k] + gamma * sum;
      returns[t] = sum;
    }
  }
  checkResults({ returns });
  return returns;
}

/**
 * TD(λ) returns, the λ-weighted mean of all n-step returns (Sutton & Barto, eq. 12.2), `[N]`:
 * G^λ_t = r_t + γ((1 − λ) V_{t+1} + λ G^λ_{t+1}), which is the GAE advantage plus the value.
 */
export function tdLambdaReturns(input: GaeInput): Float32Array {
  return gae(input).returns;
}

function checkReturns({ offsets, rewards, gamma }: ReturnsInput): void {
  checkOffsets('offsets', offsets, rewards.length);
  checkValues({ rewards }, rewards.length);
  checkUnitInterval({ gamma });
}
