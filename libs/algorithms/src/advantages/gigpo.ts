import {
  checkGroupIds,
  checkLength,
  checkNonNegative,
  checkOffsets,
  checkResults,
  checkUnitInterval,
} from '../layout/check.js';
import { AlgorithmError } from '../errors.js';
import { countGroups, momentsOfGroups, type GroupMoments, type GroupSignalCounts } from '../layout/groups.js';
import { broadcastRows, rowSums } from '../layout/ragged.js';
import type { AdvantageBatch, Columns } from './advantage-batch.js';
import { GROUP_EPSILON } from './grpo.js';

/** A step's reward is the sum over its tokens. */
export type GigpoInput = Columns<'episodeSteps' | 'stepOffsets' | 'rewards' | 'groupIds' | 'anchors'> &
  Pick<AdvantageBatch, 'output'>;

export interface GigpoOptions {
  /** `mean`: differences from the mean; `meanStd`: also divided by σ + ε. At both levels. Default `meanStd`. */
  readonly normalization?: 'meanStd' | 'mean';
  /** Discount per step in G_k, in [0, 1]. Default 0.95. */
  readonly stepGamma?: number;
  /** ω, weight of the step level. Default 1. */
  readonly stepWeight?: number;
  /**
   * Whether episode statistics count each of the `episodes` once, or each of its `stepRows`, as verl-agent does, so that long episodes weigh more.
   * With `stepRows` the only step of a group keeps its raw return, as in verl-agent.
   */
  readonly weighting?: 'episodes' | 'stepRows';
  /** Added to the deviations that divide, at least 0. Default 1e-6, as in verl-agent. */
  readonly epsilon?: number;
}

/** The counts are of the groups of episodes. */
export interface GigpoResult extends GroupSignalCounts {
  /** `[N]`. */
  readonly advantages: Float32Array;
  /** Share of the steps in a state that another step of their group shares. */
  readonly sharedAnchorFraction: number;
}

/**
 * Group-in-group policy optimisation (Feng et al., arXiv:2505.10978): A = A_episode + ω·A_step on every action token of
 * a step.
 *
 * - A_episode: the episode's return among the episodes of its group, each counted once.
 * - A_step: G_k = r_k + γ G_{k+1} among the steps of the group that stood in the same state (equal anchors).
 *
 * A group of one gives 0 at either level, and so does a step without an anchor. Returns are taken from `rewards` as they
 * are: penalties belong in before. With hardly any shared anchors GiGPO is GRPO; look at `sharedAnchorFraction`.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit or options outside their range; `UNSUPPORTED` when
 * no step has an anchor
 */
export function gigpo(input: GigpoInput, options: GigpoOptions = {}): GigpoResult {
  const { normalization = 'meanStd', stepGamma = 0.95, stepWeight = 1, weighting = 'episodes' } = options;
  const { epsilon = GROUP_EPSILON } = options;
  checkGigpo(input);
  checkUnitInterval({ stepGamma });
  checkNonNegative({ stepWeight, epsilon });
  const { episodeSteps, stepOffsets, rewards, groupIds } = input;
  const stepRewards = rowSums(rewards, stepOffsets, { name: 'rewards' });
  const numSteps = stepRewards.length;
  const { groupOfStep, numStepGroups } = stepGroups(input);
  const { stepReturns, episodeReturns } = computeReturns(stepRewards, episodeSteps, stepGamma);
  const numGroups = findLargest(groupIds) + 1;
  const stepMoments = momentsOfGroups(stepReturns, groupOfStep, numStepGroups);
  const { counts } = stepMoments;
  const groups = momentsOfGroups(episodeReturns, groupIds, numGroups);
  const perEpisode =
    weighting === 'episodes'
      ? new GroupNormalizer(groups, { normalization, epsilon, singleton: 'zero' })
      : new GroupNormalizer(stepRowMoments(input, episodeReturns, numGroups), {
          ...{ normalization, epsilon, singleton: 'raw' },
        });
  const perStep = new GroupNormalizer(stepMoments, { normalization, epsilon, singleton: 'zero' });

  const advantages = new Float32Array(numSteps);
  let numSharing = 0;
  for (let episode = 0; episode < episodeReturns.length; episode++) {
    const ofEpisode = perEpisode.normalize(episodeReturns[episode], groupIds[episode]);
    for (let step = episodeSteps[episode]; step < episodeSteps[episode + 1]; step++) {
      const group = groupOfStep[step];
      advantages[step] = ofEpisode + stepWeight * perStep.normalize(stepReturns[step], group);
      numSharing += Number(counts[group] > 1);
    }
  }
  checkResults({ advantages });
  return {
    advantages: broadcastRows(advantages, stepOffsets, input.output?.advantages),
    ...countGroups(groups),
    sharedAnchorFraction: numSteps === 0 ? 0 : numSharing / numSteps,
  };
}

/** Moments of the episodes' returns with each counted as often as it has steps, as verl-agent does. */
function stepRowMoments(
  { episodeSteps, groupIds }: GigpoInput,
  episodeReturns: Float64Array,
  numGroups: number,
): GroupMoments {
  const groupOfStep = new Int32Array(episodeSteps[episodeReturns.length]);
  for (let episode = 0; episode < episodeReturns.length; episode++)
    groupOfStep.fill(groupIds[episode], episodeSteps[episode], episodeSteps[episode + 1]);
  return momentsOfGroups(broadcastRows(episodeReturns, episodeSteps), groupOfStep, numGroups);
}

/** Discounted return from each step on `[K]`, and undiscounted sum of each episode `[E]`. */
function computeReturns(
  stepRewards: Float64Array,
  episodeSteps: Int32Array,
  gamma: number,
): { readonly stepReturns: Float64Array; readonly episodeReturns: Float64Array } {
  const stepReturns = new Float64Array(stepRewards.length);
  const episodeReturns = new Float64Array(episodeSteps.length - 1);
  for (let episode = 0; episode < episodeReturns.length; episode++) {
    let toGo = 0;
    let sum = 0;
    for (let step = episodeSteps[episode + 1] - 1; step >= episodeSteps[episode]; step--) {
      toGo = stepRewards[step] + gamma * toGo;
      sum += stepRewards[step];
      stepReturns[step] = toGo;
    }
    episodeReturns[episode] = sum;
  }
  return { stepReturns, episodeReturns };
}

interface StepGroups {
  /** `[K]` */
  readonly groupOfStep: Int32Array;
  readonly numStepGroups: number;
}

/** Numbers the (group, anchor) pairs `[K]`; a step without an anchor has a number of its own. */
function stepGroups(input: GigpoInput): StepGroups {
  const numAnchors = findLargest(input.anchors) + 1;
  const numKeys = (findLargest(input.groupIds) + 1) * numAnchors;
  // A table is several times faster than a map, where the pairs are not many more than the steps.
  return numKeys <= 8 * input.anchors.length
    ? numberByTable(input, numAnchors, numKeys)
    : numberByMap(input, numAnchors);
}

function numberByTable(
  { episodeSteps, groupIds, anchors }: GigpoInput,
  numAnchors: number,
  numKeys: number,
): StepGroups {
  const groupOfStep = new Int32Array(anchors.length);
  /** One more than the number of a pair; 0 for none yet. */
  const following = new Int32Array(numKeys);
  let numStepGroups = 0;
  for (let episode = 0; episode + 1 < episodeSteps.length; episode++) {
    const first = groupIds[episode] * numAnchors;
    for (let step = episodeSteps[episode]; step < episodeSteps[episode + 1]; step++) {
      const anchor = anchors[step];
      if (anchor === -1) {
        groupOfStep[step] = numStepGroups++;
        continue;
      }
      if (following[first + anchor] === 0) following[first + anchor] = ++numStepGroups;
      groupOfStep[step] = following[first + anchor] - 1;
    }
  }
  return { groupOfStep, numStepGroups };
}

function numberByMap({ episodeSteps, groupIds, anchors }: GigpoInput, numAnchors: number): StepGroups {
  const groupOfStep = new Int32Array(anchors.length);
  const numbers = new Map<number, number>();
  let numStepGroups = 0;
  for (let episode = 0; episode + 1 < episodeSteps.length; episode++) {
    for (let step = episodeSteps[episode]; step < episodeSteps[episode + 1]; step++) {
      const key = groupIds[episode] * numAnchors + anchors[step];
      const number = (anchors[step] === -1 ? undefined : numbers.get(key)) ?? numStepGroups++;
      if (anchors[step] !== -1) numbers.set(key, number);
      groupOfStep[step] = number;
    }
  }
  return { groupOfStep, numStepGroups };
}

/** −1 for none. */
function findLargest(numbers: Int32Array): number {
  let largest = -1;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < numbers.length; i++) if (numbers[i] > largest) largest = numbers[i];
  return largest;
}

type NormalizerOptions = Required<Pick<GigpoOptions, 'normalization' | 'epsilon'>> & {
  /** Result for the only value of a group: 0, or the value itself. */
  readonly singleton: 'zero' | 'raw';
};

/** Places values among those of their group. */
class GroupNormalizer {
  private readonly scales: Float64Array;
  private readonly means: Float64Array;

  constructor(
    { counts, means, stds, allEqual }: GroupMoments,
    { normalization, epsilon, singleton }: NormalizerOptions,
  ) {
    this.means = singleton === 'raw' ? means.slice() : means;
    this.scales = new Float64Array(counts.length);
    for (let group = 0; group < counts.length; group++) {
      if (counts[group] > 1 && allEqual[group] === 0) {
        this.scales[group] = normalization === 'mean' ? 1 : 1 / (stds[group] + epsilon);
      } else if (counts[group] === 1 && singleton === 'raw') {
        this.means[group] = 0;
        this.scales[group] = 1;
      }
    }
  }

  normalize(value: number, group: number): number {
    return (value - this.means[group]) * this.scales[group];
  }
}

function checkGigpo({ episodeSteps, stepOffsets, rewards, groupIds, anchors }: GigpoInput): void {
  checkOffsets('stepOffsets', stepOffsets, rewards.length);
  checkOffsets('episodeSteps', episodeSteps, stepOffsets.length - 1);
  checkGroupIds('groupIds', groupIds, episodeSteps.length - 1);
  checkLength({ anchors }, stepOffsets.length - 1);
  for (let step = 0; step < anchors.length; step++) {
    if (anchors[step] >= -1) continue;
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `anchors[${step}] is ${anchors[step]}, must be ≥ 0, or −1 for none`,
    );
  }
  if (anchors.length > 0 && findLargest(anchors) === -1) {
    throw new AlgorithmError(
      'UNSUPPORTED',
      'no step has an anchor: this environment offers none, so GiGPO would be GRPO',
    );
  }
}
