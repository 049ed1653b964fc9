import type { EpisodeColumns } from '@retrace/trajectory';
import type { UpdateResult } from '../update/update-result.js';

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
  const { actionTokens } = recorded.tokens;
  let [numTokens, numCountedOnce, numFlipped] = [0, 0, 0];
  let [advantageSum, advantageMax, weightSum, weightMax] = [0, 0, 0, 0];
  for (const n of actionTokens) {
    const [a, b] = [tokenAt(recorded, n), tokenAt(changed, n)];
    if (!a.isCounted && !b.isCounted) continue;
    numTokens += 1;
    numCountedOnce += Number(a.isCounted !== b.isCounted);
    numFlipped += Number(a.advantage * b.advantage < 0);
    const advantageDifference = Math.abs(a.advantage - b.advantage);
    const weightDifference = Math.abs(a.weight - b.weight);
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
  const { actionTokens, actionStep, episodeActionOffsets } = recorded.tokens;
  const [recordedClips, changedClips] = [clipsOf(recorded), clipsOf(changed)];
  return episodeIds.map((episodeId, e) => {
    const [from, to] = [episodeActionOffsets[e], episodeActionOffsets[e + 1]];
    const positions = Array.from(actionTokens.subarray(from, to));
    const of = (result: ComparedResult, field: 'advantage' | 'weight') =>
      positions.map((n) => tokenAt(result, n)[field]);
    return {
      episodeId,
      steps: Array.from(actionStep.subarray(from, to)),
      recordedAdvantages: of(recorded, 'advantage'),
      changedAdvantages: of(changed, 'advantage'),
      recordedWeights: of(recorded, 'weight'),
      changedWeights: of(changed, 'weight'),
      recordedClips: positions.map((n) => recordedClips.get(n) ?? 0),
      changedClips: positions.map((n) => changedClips.get(n) ?? 0),
    };
  });
}

/** By position in the batch. */
function clipsOf({ outcome }: ComparedResult): ReadonlyMap<number, number> {
  const counts = new Map<number, { numSteps: number; numClipped: number }>();
  for (const { tokens, clipped } of outcome.stepTokens ?? [])
    tokens.forEach((n, m) => {
      const count = counts.get(n) ?? { numSteps: 0, numClipped: 0 };
      counts.set(n, { numSteps: count.numSteps + 1, numClipped: count.numClipped + clipped[m] });
    });
  return new Map([...counts].map(([n, { numSteps, numClipped }]) => [n, numClipped / numSteps]));
}

function tokenAt({ tokens }: ComparedResult, n: number) {
  const isCounted = tokens.trainedMask[n] === 1 && tokens.keptMask?.[n] !== 0;
  return {
    isCounted,
    advantage: isCounted ? (tokens.advantages?.[n] ?? 0) : 0,
    weight: isCounted ? (tokens.importanceWeights?.[n] ?? 1) : 0,
  };
}
