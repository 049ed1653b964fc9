import { AlgorithmError } from '../errors.js';
import { checkFinite, checkLength, checkResults, checkValues } from '../layout/check.js';
import { countGroups, momentsOfGroups, type GroupMoments } from '../layout/groups.js';
import { broadcastRows } from '../layout/ragged.js';
import { grpo, type GroupAdvantages, type GrpoOptions } from './grpo.js';
import { whiten } from './whiten.js';

export interface GdpoInput {
  /** Episodes over action tokens `[E + 1]`. */
  readonly offsets: Int32Array;
  readonly groupIds: Int32Array;
  /** Return of each episode in each reward component, C arrays `[E]`. */
  readonly components: readonly Float32Array[];
  /** Weight of each component `[C]`. */
  readonly weights: Float32Array;
}

/**
 * GDPO (arXiv:2601.05242): GRPO in each reward component by itself, weighted sum, whitened over the tokens of the batch:
 * A = whiten(Σ_c w_c (R_c − μ_c)/(σ_c + ε)) `[N]`. So a component with large numbers does not drown the others. Groups count as equal
 * where they are in every component.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` without a component or when weights and components differ in number
 */
export function gdpo(
  input: GdpoInput,
  options: Pick<GrpoOptions, 'singleton' | 'epsilon'> = {},
): GroupAdvantages {
  const { offsets, groupIds, components, weights } = input;
  if (components.length === 0) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      'components is empty, must hold at least one reward component',
    );
  }
  checkLength({ weights }, components.length);
  checkFinite({ weights });
  const sums = new Float64Array(groupIds.length);
  components.forEach((returns, component) => {
    checkValues({ [`components[${component}]`]: returns }, groupIds.length);
    const { advantages } = grpo({ returns, groupIds }, options);
    for (let episode = 0; episode < sums.length; episode++)
      sums[episode] += weights[component] * advantages[episode];
  });
  checkResults({ advantages: sums });
  const groups = components.map((returns) => momentsOfGroups(returns, groupIds));
  const counts = countGroups({ ...groups[0], allEqual: equalInAll(groups) });
  return { advantages: whiten(broadcastRows(sums, offsets)), ...counts };
}

/** 1 for groups whose values are equal in each of the components. */
function equalInAll(components: readonly GroupMoments[]): Uint8Array {
  return components[0].allEqual.map((_, group) =>
    Number(components.every(({ allEqual }) => allEqual[group] === 1)),
  );
}
