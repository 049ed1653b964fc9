import {
  checkLogprobs,
  checkOffsets,
  checkResults,
  checkUnitInterval,
  checkValues,
} from '../layout/check.js';
import { LOG_RATIO_LIMIT, clamp } from '../losses/token-loss.js';
import type { Columns } from './advantage-batch.js';
import { bootstrapValues, type GaeInput } from './gae.js';

export interface RetraceInput
  extends
    Columns<'offsets' | 'rewards' | 'proximalLogprobs' | 'behaviorLogprobs'>,
    Pick<GaeInput, 'truncated' | 'finalValues' | 'gamma' | 'lambda'> {
  /** Q of the token that was taken `[N]`. */
  readonly qValues: Float32Array;
  /** E_π Q in the state in which each token was chosen `[N]`. */
  readonly expectedQValues: Float32Array;
}

/**
 * Retrace(λ) (Munos et al., arXiv:1606.02647, eq. 3–4), c_t = λ·min(1, π_prox/π_b):
 *
 *     δ_t = r_t + γ E_π Q_{t+1} − Q_t
 *     q_t − Q_t = δ_t + γ c_{t+1} (q_{t+1} − Q_{t+1}),   A_t = q_t − E_π Q_t
 *
 * After the last token E_π Q is 0, or `finalValues` where the episode is truncated. It needs a Q model: with V only,
 * these traces are V-trace's.
 *
 * @returns advantages, and q as the targets of the Q model `[N]`
 */
export function retrace(input: RetraceInput): { advantages: Float32Array; returns: Float32Array } {
  const { offsets, rewards, qValues, expectedQValues, proximalLogprobs, behaviorLogprobs, gamma, lambda } =
    input;
  checkOffsets('offsets', offsets, rewards.length);
  checkValues({ rewards, qValues, expectedQValues }, rewards.length);
  checkLogprobs({ proximalLogprobs, behaviorLogprobs }, rewards.length);
  checkUnitInterval({ gamma, lambda });
  const bootstraps = bootstrapValues(offsets.length - 1, input);
  const advantages = new Float32Array(rewards.length);
  const returns = new Float32Array(rewards.length);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let nextExpected = bootstraps === null ? 0 : bootstraps[episode];
    let tracedCorrection = 0;
    for (let t = offsets[episode + 1] - 1; t >= offsets[episode]; t--) {
      const correction = rewards[t] + gamma * nextExpected - qValues[t] + gamma * tracedCorrection;
      const logRatio = clamp(proximalLogprobs[t] - behaviorLogprobs[t], -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      tracedCorrection = lambda * Math.min(1, Math.exp(logRatio)) * correction;
      nextExpected = expectedQValues[t];
      returns[t] = qValues[t] + correction;
      advantages[t] = qValues[t] + correction - expectedQValues[t];
    }
  }
  checkResults({ advantages, returns });
  return { advantages, returns };
}
