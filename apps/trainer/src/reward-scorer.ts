import { createHash } from 'node:crypto';
import type { RewardRecipe } from '@retrace/config';
import { allocateRewards, RewardComposer, rewardVersion, type RewardEpisode } from '@retrace/rewards';
import { END_REASONS, type EpisodeColumns, type TokenBatch } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/trajectory/clickhouse';

export interface TokenRewards {
  /** [A] Reward at each action token. */
  readonly rewards: Float32Array;
  /** [E] 0 for episodes with a missing reward: they are left out of training, never counted as 0. */
  readonly trainedEpisodes: Uint8Array;
  readonly numMissing: number;
}

export interface RewardInputs {
  readonly columns: EpisodeColumns;
  readonly batch: TokenBatch;
  /** [E]; needed when the composition reads texts. */
  readonly texts: readonly EpisodeTexts[] | null;
}

/** The rewards of a recipe: what composes them, how they reach tokens, and the name of both together. */
export class RewardScorer {
  readonly version: string;
  private readonly composer: RewardComposer;

  /** @throws RewardError for components that are unknown, doubled or badly configured */
  constructor(private readonly recipe: RewardRecipe) {
    this.composer = new RewardComposer(recipe.components);
    this.version = rewardVersion(this.composer, this.allocation, (text) =>
      createHash('sha256').update(text).digest('hex'),
    );
  }

  get readsTexts(): boolean {
    return this.composer.readsTexts;
  }

  async score(inputs: RewardInputs): Promise<TokenRewards> {
    const { columns, batch } = inputs;
    const numEpisodes = columns.episodeIds.length;
    const episodeRewards = new Float64Array(numEpisodes);
    const stepRewards = new Float64Array(columns.steps.length);
    const trainedEpisodes = new Uint8Array(numEpisodes);
    for (let e = 0; e < numEpisodes; e++) {
      const scored = await this.composer.score(rewardEpisode(inputs, e));
      if (scored.total === null) continue;
      trainedEpisodes[e] = 1;
      episodeRewards[e] = scored.episodeReward;
      stepRewards.set(scored.stepRewards, columns.stepOffsets[e]);
    }
    const rewards = allocateRewards(
      {
        episodeSteps: columns.stepOffsets,
        stepOffsets: stepActionOffsets(columns, batch),
        episodeRewards,
        stepRewards,
      },
      this.allocation,
    );
    const numTrained = trainedEpisodes.reduce((sum, bit) => sum + bit, 0);
    return { rewards, trainedEpisodes, numMissing: numEpisodes - numTrained };
  }

  private get allocation() {
    return { rule: this.recipe.allocation, gamma: this.recipe.allocationGamma };
  }
}

/** One episode as reward components see it; without `texts`, only what its columns hold. */
function rewardEpisode({ columns, texts }: RewardInputs, episode: number): RewardEpisode {
  const first = columns.stepOffsets[episode];
  const numSteps = columns.stepOffsets[episode + 1] - first;
  const episodeTexts = texts?.[episode];
  return {
    environment: episodeTexts?.environment ?? '',
    task: episodeTexts?.task ?? null,
    finalObservation: episodeTexts?.finalObservation ?? '',
    endReason: END_REASONS[columns.endReasons[episode]],
    success: columns.successes[episode] < 0 ? null : columns.successes[episode] === 1,
    steps: Array.from({ length: numSteps }, (_, step) => {
      const s = first + step;
      const stepTexts = episodeTexts?.steps[step];
      return {
        observation: stepTexts?.observation ?? '',
        action: stepTexts?.action ?? '',
        parsedAction: stepTexts?.parsedAction ?? null,
        rewardNames: stepTexts?.rewardNames ?? [],
        rewardValues: stepTexts?.rewardValues ?? [],
        actionValid: columns.actionValid[s] === 1,
        anchor: columns.anchors[s],
        reward: Number.isNaN(columns.rewards[s]) ? null : columns.rewards[s],
        numActionTokens: countActionTokens(columns, s),
      };
    }),
  };
}

function countActionTokens(columns: EpisodeColumns, step: number): number {
  let count = 0;
  for (let n = columns.tokenOffsets[step]; n < columns.tokenOffsets[step + 1]; n++)
    count += columns.actionMask[n];
  return count;
}

/** [S + 1] Steps over the action tokens of the batch, which come episode by episode in step order. */
function stepActionOffsets(columns: EpisodeColumns, batch: TokenBatch): Int32Array {
  const offsets = new Int32Array(columns.steps.length + 1);
  for (let e = 0; e + 1 < batch.episodeActionOffsets.length; e++) {
    for (let a = batch.episodeActionOffsets[e]; a < batch.episodeActionOffsets[e + 1]; a++) {
      offsets[columns.stepOffsets[e] + batch.actionStep[a] + 1]++;
    }
  }
  for (let s = 0; s < columns.steps.length; s++) offsets[s + 1] += offsets[s];
  return offsets;
}
