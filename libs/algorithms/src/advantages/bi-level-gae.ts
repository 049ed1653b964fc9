import { checkOffsets, checkResults, checkUnitInterval, checkValues } from '../layout/check.js';
import type { Columns } from './advantage-batch.js';
import { bootstrapValues, type GaeInput } from './gae.js';

/** A turn's reward is the sum over its tokens; a penalty that is due token by token (KL) must not be in `rewards`. */
export interface BiLevelGaeInput
  extends
    Columns<'episodeSteps' | 'stepOffsets' | 'rewards' | 'values'>,
    Pick<GaeInput, 'truncated' | 'finalValues' | 'lambda'> {
  /** Discount per turn, in [0, 1]. */
  readonly turnGamma: number;
  /** Discount per token inside a turn, in [0, 1]. */
  readonly gamma: number;
}

/**
 * Bi-level GAE (RAGEN, arXiv:2504.20073). First GAE over turns, where turn k is placed at its last action token e_k and has the sum of its rewards:
 *
 * δ_k = Σ_{t in k} r_t + γ_turn V_{e_{k+1}} − V_{e_k},   A_k = δ_k + γ_turn λ A_{k+1}
 *
 * then GAE over the tokens inside each turn, where A_k + V_{e_k} is the reward at e_k, the other tokens have none, and nothing reaches across the end
 * of a turn. After the last turn V is 0, or `finalValues` where the episode is truncated. So the place of the reward in a turn makes no difference.
 * Turns without action tokens are skipped.
 *
 * @returns advantages and critic targets `[N]`
 */
export function biLevelGae(input: BiLevelGaeInput): { advantages: Float32Array; returns: Float32Array } {
  const { episodeSteps, stepOffsets, rewards, values, turnGamma, gamma, lambda } = input;
  checkOffsets('stepOffsets', stepOffsets, rewards.length);
  checkOffsets('episodeSteps', episodeSteps, stepOffsets.length - 1);
  checkValues({ rewards, values }, rewards.length);
  checkUnitInterval({ turnGamma, gamma, lambda });
  const bootstraps = bootstrapValues(episodeSteps.length - 1, input);
  const advantages = new Float32Array(rewards.length);
  const returns = new Float32Array(rewards.length);
  for (let episode = 0; episode + 1 < episodeSteps.length; episode++) {
    let nextTurnValue = bootstraps === null ? 0 : bootstraps[episode];
    let turnAdvantage = 0;
    for (let step = episodeSteps[episode + 1] - 1; step >= episodeSteps[episode]; step--) {
      const last = stepOffsets[step + 1] - 1;
      if (last < stepOffsets[step]) continue;
      let turnReward = 0;
      for (let t = stepOffsets[step]; t <= last; t++) turnReward += rewards[t];
      const delta = turnReward + turnGamma * nextTurnValue - values[last];
      turnAdvantage = delta + turnGamma * lambda * turnAdvantage;
      nextTurnValue = values[last];

      let advantage = turnAdvantage;
      let nextValue = values[last];
      advantages[last] = advantage;
      returns[last] = advantage + values[last];
      for (let t = last - 1; t >= stepOffsets[step]; t--) {
        advantage = gamma * nextValue - values[t] + gamma * lambda * advantage;
        nextValue = values[t];
        advantages[t] = advantage;
        returns[t] = advantage + values[t];
      }
    }
  }
  checkResults({ advantages, returns });
  return { advantages, returns };
}
