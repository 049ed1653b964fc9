import type { EpisodeColumns } from '@retrace/trajectory';
import type { UpdateResult } from '../update/result/update-result.js';

type ComparedResult = Pick<UpdateResult, 'tokens' | 'shares' | 'episodeRewards'> & {
  readonly outcome: Pick<UpdateResult['outcome'], 'stepTokens'>;
};

/** An episode of a batch in the recorded update and in the changed one; NaN where a value is missing there. */
export interface ComparedEpisode {
  readonly episodeId: string;
  readonly groupId: string;
  readonly recordedReward: number;
  readonly changedReward: number;
  /** Mean over the tokens that the loss counts. */
  readonly recordedAdvantage: number;
  readonly changedAdvantage: number;
  /** Tokens that the loss counts. */
  readonly recordedTokens: number;
  readonly changedTokens: number;
}

/** Differences over the action tokens that either update trains; a token that an update does not count has advantage and weight 0 there. */
export interface ComparedTokens {
  readonly numTokens: number;
  /** Counted by one update only. */
  readonly numCountedOnce: number;
  /** Share of the tokens whose advantages have opposite signs. */
  readonly flippedFraction: number;
  readonly meanAdvantageDifference: number;
  readonly maxAdvantageDifference: number;
  readonly meanWeightDifference: number;
  readonly maxWeightDifference: number;
}

/** The action tokens of one episode, side by side `[A]`. */
export interface TokensSideBySide {
  readonly episodeId: string;
  /** [A] The step that sampled the token. */
  readonly steps: readonly number[];
  readonly recordedAdvantages: readonly number[];
  readonly changedAdvantages: readonly number[];
  readonly recordedWeights: readonly number[];
  readonly changedWeights: readonly number[];
  /** [A] Share of the optimizer steps that trained the token in which its gradient was clipped away; 0 where none did. */
  readonly recordedClips: readonly number[];
  readonly changedClips: readonly number[];
}

export function compareEpisodes(
  { episodeIds, groupIds }: Pick<EpisodeColumns, 'episodeIds' | 'groupIds'>,
  recorded: ComparedResult,
  changed: ComparedResult,
): ComparedEpisode[] {
  return episodeIds.map((episodeId, e) => ({
    episodeId,
    groupId: groupIds[e],
    recordedReward: recorded.episodeRewards?.[e] ?? Number.NaN,
    changedReward: changed.episodeRewards?.[e] ?? Number.NaN,
    recordedAdvantage: recorded.shares.advantageMeans[e],
    changedAdvantage: changed.shares.advantageMeans[e],
    recordedTokens: recorded.shares.numTokens[e],
    changedTokens: changed.shares.numTokens[e],
  }));
}

export function compareTokens(recorded: ComparedResult, changed: ComparedResult): ComparedTokens {
  let [numTokens, numCountedOnce, numFlipped] = [0, 0, 0];
  let [advantageSum, advantageMax, weightSum, weightMax] = [0, 0, 0, 0];
  for (let a = 0; a < recorded.tokens.trainedMask.length; a++) {
    const [before, after] = [tokenAt(recorded, a), tokenAt(changed, a)];
    if (!before.isCounted && !after.isCounted) continue;
    numTokens += 1;
    numCountedOnce += Number(before.isCounted !== after.isCounted);
    numFlipped += Number(before.advantage * after.advantage < 0);
    const advantageDifference = Math.abs(before.advantage - after.advantage);
    const weightDifference = Math.abs(before.weight - after.weight);
    advantageSum += advantageDifference;
    weightSum += weightDifference;
    advantageMax = Math.max(advantageMax, advantageDifference);
    weightMax = Math.max(weightMax, weightDifference);
  }
  const perToken = (sum: number) => sum / Math.max(1, numTokens);
  return {
    numTokens,
    numCountedOnce,
    flippedFraction: perToken(numFlipped),
    meanAdvantageDifference: perToken(advantageSum),
    maxAdvantageDifference: advantageMax,
    meanWeightDifference: perToken(weightSum),
    maxWeightDifference: weightMax,
  };
}

/** All action tokens, episode by episode. */
export function tokensSideBySide(
  episodeIds: readonly string[],
  recorded: ComparedResult,
  changed: ComparedResult,
): TokensSideBySide[] {
  const { actionStep, episodeActionOffsets } = recorded.tokens;
  const [recordedClips, changedClips] = [countClips(recorded), countClips(changed)];
  return episodeIds.map((episodeId, e) => {
    const [from, to] = [episodeActionOffsets[e], episodeActionOffsets[e + 1]];
    const actions = Array.from({ length: to - from }, (_, i) => from + i);
    const of = (result: ComparedResult, field: 'advantage' | 'weight') =>
      actions.map((a) => tokenAt(result, a)[field]);
    return {
      episodeId,
      steps: Array.from(actionStep.subarray(from, to)),
      recordedAdvantages: of(recorded, 'advantage'),
      changedAdvantages: of(changed, 'advantage'),
      recordedWeights: of(recorded, 'weight'),
      changedWeights: of(changed, 'weight'),
      recordedClips: actions.map((a) => recordedClips.get(a) ?? 0),
      changedClips: actions.map((a) => changedClips.get(a) ?? 0),
    };
  });
}

/** By number of the action token in the batch. */
function countClips({ outcome }: ComparedResult): ReadonlyMap<number, number> {
  const counts = new Map<number, { numSteps: number; numClipped: number }>();
  for (const { actions, clipped } of outcome.stepTokens ?? [])
    actions.forEach((a, m) => {
      const count = counts.get(a) ?? { numSteps: 0, numClipped: 0 };
      counts.set(a, { numSteps: count.numSteps + 1, numClipped: count.numClipped + clipped[m] });
    });
  return new Map([...counts].map(([a, { numSteps, numClipped }]) => [a, numClipped / numSteps]));
}

function tokenAt({ tokens }: ComparedResult, a: number) {
  const isCounted = tokens.trainedMask[a] === 1 && tokens.keptMask?.[a] !== 0;
  return {
    isCounted,
    advantage: isCounted ? (tokens.advantages?.[a] ?? 0) : 0,
    weight: isCounted ? (tokens.importanceWeights?.[a] ?? 1) : 0,
  };
}
