import { checkGroupIds, checkLogprobs, checkOffsets, checkResults, checkValues } from '../layout/check.js';
import { countGroups, momentsOfGroups, type GroupSignalCounts } from '../layout/groups.js';
import type { AdvantageBatch, Columns } from './advantage-batch.js';
import { monteCarloReturns } from './returns.js';
import type { GroupAdvantages, SingletonRule } from './grpo.js';

/** `importanceWeights` are ρ̄ where the update uses truncated importance weights; W then scales by ρ̄². */
export type OptimalTokenBaselineInput = Columns<
  'offsets' | 'rewards' | 'groupIds' | 'proximalLogprobs' | 'sumSquaredProbabilities'
> &
  Pick<AdvantageBatch, 'importanceWeights'>;

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
 * G is the undiscounted return to go. Episodes without tokens are no members, and are not counted.
 *
 * @returns one advantage per token `[N]`, and counts of the groups by the returns of their members
 */
export function optimalTokenBaseline(
  input: OptimalTokenBaselineInput,
  options: OptimalTokenBaselineOptions = {},
): GroupAdvantages {
  const { offsets, rewards, groupIds } = input;
  const { singleton = 'zero', loneTail = 'raw' } = options;
  const numEpisodes = offsets.length - 1;
  checkOffsets('offsets', offsets, rewards.length);
  checkGroupIds('groupIds', groupIds, numEpisodes);
  const advantages = monteCarloReturns({ offsets, rewards, gamma: 1 });
  const energies = cumulativeEnergies(input);
  const counts = countMembers(offsets, groupIds, advantages);

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
  checkResults({ advantages });
  return { advantages, ...counts };
}

/** @param toGo returns to go `[N]`, of which the first of an episode is its return */
function countMembers(offsets: Int32Array, groupIds: Int32Array, toGo: Float32Array): GroupSignalCounts {
  const members = groupIds.map((_, e) => e).filter((e) => offsets[e] < offsets[e + 1]);
  const returns = Float64Array.from(members, (e) => toGo[offsets[e]]);
  const ofMembers = members.map((e) => groupIds[e]);
  return countGroups(momentsOfGroups(returns, ofMembers, groupIds.length));
}

/** W_t of every token `[N]`. */
function cumulativeEnergies(input: OptimalTokenBaselineInput): Float64Array {
  const { offsets, proximalLogprobs, sumSquaredProbabilities, importanceWeights = null } = input;
  const numTokens = offsets[offsets.length - 1];
  checkLogprobs({ proximalLogprobs }, numTokens);
  checkValues({ sumSquaredProbabilities }, numTokens);
  if (importanceWeights !== null) checkValues({ importanceWeights }, numTokens);
  const energies = new Float64Array(numTokens);
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let total = 0;
    for (let t = offsets[episode]; t < offsets[episode + 1]; t++) {
      const weight = importanceWeights === null ? 1 : importanceWeights[t];
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
