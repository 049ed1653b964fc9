import { checkOffsets, checkResults, checkValues } from '../layout/check.js';
import { broadcastRows } from '../layout/ragged.js';
import type { Columns } from './advantage-batch.js';
import { drGrpo, type SingletonOptions } from './group-baselines.js';
import type { GroupAdvantages, GroupInput } from './grpo.js';
import { monteCarloReturns, type ReturnsInput } from './returns.js';
import { whiten } from './whiten.js';

/**
 * REINFORCE++ (Hu et al., arXiv:2501.03262): A = whitened G_t, G_t = r_t + γ G_{t+1}, over the whole batch `[N]`. Rewards
 * reach across the observations between an episode's turns, as the rows hold only action tokens.
 */
export function reinforcePlusPlus(input: ReturnsInput): { advantages: Float32Array; returns: Float32Array } {
  const returns = monteCarloReturns(input);
  return { advantages: whiten(returns), returns };
}

/**
 * REINFORCE++ with a group baseline: R_i − μ, on every action token of the episode, whitened over the tokens of the
 * batch `[N]`. Groups of one as in `drGrpo`.
 */
export function reinforcePlusPlusBaseline(
  input: GroupInput & { readonly offsets: Int32Array },
  options: SingletonOptions = {},
): GroupAdvantages {
  const { advantages, ...counts } = drGrpo(input, options);
  return { advantages: whiten(broadcastRows(advantages, input.offsets)), ...counts };
}

export type RemaxInput = Columns<'offsets' | 'rewards' | 'greedyReturns'>;

/**
 * ReMax (Li et al., arXiv:2310.10505): A_t = Σ_{k≥t} r_k − R_greedy `[N]`. The baseline is the return of one greedy
 * episode of the same group, which the collector adds and which is not trained on, so a group of one is no special case.
 */
export function remax({ offsets, rewards, greedyReturns }: RemaxInput): Float32Array {
  checkOffsets('offsets', offsets, rewards.length);
  checkValues({ greedyReturns }, offsets.length - 1);
  const advantages = monteCarloReturns({ offsets, rewards, gamma: 1 });
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    for (let t = offsets[episode]; t < offsets[episode + 1]; t++) advantages[t] -= greedyReturns[episode];
  }
  checkResults({ advantages });
  return advantages;
}
