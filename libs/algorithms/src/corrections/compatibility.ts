import { getAdvantageEstimator } from '../advantages/estimator.js';
import { getPolicyLoss } from '../losses/policy-loss.js';

export const PROXIMAL_POLICIES = ['recomputed', 'interpolated', 'behavior'] as const;
/** Denominator of an update's ratio: the policy at its start, computed or estimated, or the policy that sampled. */
export type ProximalPolicy = (typeof PROXIMAL_POLICIES)[number];

/** The parts of a training recipe that must fit one another. */
export interface Combination {
  readonly advantage: string;
  readonly policyLoss: string;
  /** Whether losses are multiplied by importance weights of the behavior policy. */
  readonly importanceWeights: boolean;
  /** Denominator of the update's ratio. */
  readonly proximal: ProximalPolicy;
  readonly valueCoefficient: number;
  /** Episodes per group. */
  readonly groupSize: number;
}

/**
 * Every reason why these parts must not be combined; empty when they may.
 *
 * @throws AlgorithmError `UNKNOWN_NAME` for an estimator or loss that does not exist
 */
export function combinationFaults(combination: Combination): string[] {
  const { advantage, policyLoss, importanceWeights, proximal, valueCoefficient, groupSize } = combination;
  const estimator = getAdvantageEstimator(advantage);
  const loss = getPolicyLoss(policyLoss);
  const faults: string[] = [];
  if (importanceWeights && loss.correctsForBehavior) {
    faults.push(
      `importance weights on ${policyLoss}: the loss contains the ratio to the behavior policy, which would count twice`,
    );
  }
  if (importanceWeights && estimator.correctsForBehavior) {
    faults.push(
      `importance weights on ${advantage}: its advantages contain the ratio to the behavior policy, which would count twice`,
    );
  }
  if (loss.correctsForBehavior && estimator.correctsForBehavior) {
    faults.push(
      `${policyLoss} with ${advantage}: both contain the ratio to the behavior policy, which would count twice`,
    );
  }
  for (const [part, corrects] of [
    [policyLoss, loss.correctsForBehavior],
    [advantage, estimator.correctsForBehavior],
  ] as const) {
    if (corrects && proximal === 'behavior') {
      faults.push(
        `${part} with the behavior policy as proximal: it corrects for the difference between the two, which the ratio of the update contains already`,
      );
    }
  }
  if (importanceWeights && proximal === 'behavior') {
    faults.push(
      'importance weights with the behavior policy as proximal: the ratio of the update corrects for it already',
    );
  }
  if (proximal === 'interpolated' && importanceWeights) {
    faults.push(
      'importance weights with an interpolated proximal policy: they need its logprobs before the update',
    );
  }
  if (proximal === 'interpolated' && estimator.correctsForBehavior) {
    faults.push(
      `${advantage} with an interpolated proximal policy: it needs that policy's logprobs before the update`,
    );
  }
  if (estimator.weighsImitation) faults.push(...imitationFaults(combination));
  if (!estimator.usesCritic && valueCoefficient !== 0) {
    faults.push(`valueCoefficient is ${valueCoefficient}, must be 0, as ${advantage} has no critic to train`);
  }
  if (estimator.usesCritic && valueCoefficient === 0) {
    faults.push(`valueCoefficient is 0, must be positive, as ${advantage} needs a trained critic`);
  }
  if (estimator.usesGroups && groupSize < 2) {
    faults.push(
      `groupSize is ${groupSize}, must be at least 2, as ${advantage} compares the episodes of a group`,
    );
  }
  return faults;
}

function imitationFaults({ advantage, policyLoss, importanceWeights }: Combination): string[] {
  return [
    ...(policyLoss === 'gpg'
      ? []
      : [`${advantage} gives weights of imitation, for which the loss must be gpg`]),
    ...(importanceWeights ? [`importance weights on ${advantage}: imitation has no ratio to correct`] : []),
  ];
}
