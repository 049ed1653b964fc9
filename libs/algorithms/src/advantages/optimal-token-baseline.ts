import { checkGroupIds, checkOffsets, checkValues } from '../layout/check.js';
import type { AdvantageBatch, Columns } from './advantage-batch.js';
import { monteCarloReturns } from './returns.js';
import type { SingletonRule } from './grpo.js';

/** `rolloutWeights` are ρ̄ where the update uses truncated importance weights; W then scales by ρ̄². */
export type OptimalTokenBaselineInput = Columns<
  'offsets' | 'rewards' | 'groupIds' | 'proximalLogprobs' | 'sumSquaredProbabilities'
> &
  Pick<AdvantageBatch, 'rolloutWeights'>;

export interface OptimalTokenBaselineOptions {
  /** Advantage of the only member of a group that has tokens: 0, or its return to go. Default `zero`. */
  readonly singleton?: SingletonRule;
  /** Advantage of tokens beyond the end of all other members of the group: the return to go (verl), or 0. Default `raw`. */
  readonly loneTail?: 'raw' | 'zero';
}

/** Keeps ΣW away from 0 where the policy was certain. */
const ENERGY_EPSILON = 1e-8;

/**
 * Optimal token baseline: the variance-minimising baseline per token position, aligned by action-token index t inside a
 * group (verl's multi-turn form). With w_t = 1 − 2π_t + Σ_v π_v² (the squared norm of the score with respect to the logits)
 * and W_t = Σ_{j≤t} w_j:
 *
 *     B_t = Σ_i G_{i,t} W_{i,t} / Σ_i W_{i,t} over the members that reach t,   A_t = G_t − B_t
 *
 * G is the undiscounted return to go. Episodes without tokens are no members. Returns `[N]`.
 */
export function optimalTokenBaseline(
  input: OptimalTokenBaselineInput,
  options: OptimalTokenBaselineOptions = {},
): Float32Array {
  const { offsets, rewards, groupIds } = input;
  const { singleton = 'zero', loneTail = 'raw' } = options;
  const numEpisodes = offsets.length - 1;
  checkOffsets('offsets', offsets, rewards.length);
  checkGroupIds('groupIds', groupIds, numEpisodes);
  const advantages = monteCarloReturns({ offsets, rewards, gamma: 1 });
  const energies = cumulativeEnergies(input);

  for (const members of membersByGroup(offsets, groupIds)) {
    const longest = Math.max(...members.map((episode) => offsets[episode + 1] - offsets[episode]));
    for (let position = 0; position < longest; position++) {
      let numReaching = 0;
      let weighted = 0;
      let energy = 0;
      for (const episode of members) {
        const t = offsets[episode] + position;
        if (t >= offsets[episode + 1]) continue;
        numReaching += 1;
        weighted += advantages[t] * energies[t];
        energy += energies[t];
      }
      const rule = members.length === 1 ? singleton : loneTail;
      const keepsReturn = numReaching === 1 && rule === 'raw';
      const baseline = keepsReturn ? 0 : weighted / (energy + ENERGY_EPSILON);
      for (const episode of members) {
        const t = offsets[episode] + position;
        if (t < offsets[episode + 1])
          advantages[t] = numReaching === 1 && !keepsReturn ? 0 : advantages[t] - baseline;
      }
    }
  }
  return advantages;
}

/** W_t of every token `[N]`. */
function cumulativeEnergies(input: OptimalTokenBaselineInput): Float64Array {
  const { offsets, proximalLogprobs, sumSquaredProbabilities, rolloutWeights = null } = input;
  const numTokens = offsets[offsets.length - 1];
  checkValues({ proximalLogprobs, sumSquaredProbabilities }, numTokens);
  if (rolloutWeights !== null) checkValues({ rolloutWeights }, numTokens);
  const energies = new Float64Array(numTokens);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let total = 0;
    for (let t = offsets[episode]; t < offsets[episode + 1]; t++) {
      const weight = rolloutWeights === null ? 1 : rolloutWeights[t];
      total += (1 - 2 * Math.exp(proximalLogprobs[t]) + sumSquaredProbabilities[t]) * weight * weight;
      energies[t] = total;
    }
  }
  return energies;
}

/** Episodes with tokens, by group. */
function membersByGroup(offsets: Int32Array, groupIds: Int32Array): Iterable<number[]> {
  const groups = new Map<number, number[]>();
  for (let episode = 0; episode < groupIds.length; episode++) {
    if (offsets[episode] === offsets[episode + 1]) continue;
    const members = groups.get(groupIds[episode]);
    if (members === undefined) groups.set(groupIds[episode], [episode]);
    else members.push(episode);
  }
  return groups.values();
}
