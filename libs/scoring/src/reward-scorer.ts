import { createHash } from 'node:crypto';
import {
  allocateRewards,
  RewardComposer,
  rewardVersion,
  type AllocationRule,
  type ComponentConfig,
  type EpisodeReward,
  type RewardEpisode,
  type RewardImplementation,
} from '@retrace/rewards';
import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/trajectory/clickhouse';
import { JudgeClient, type JudgeClientOptions, type JudgeUsage } from './judge/judge-client.js';
import { firstOn } from './judge/verdict.js';
import type { VerdictOfEpisode } from './judge/verdict-log.js';
import type { VerdictStore } from './judge/verdict-store.js';
import { loadRewardModules } from './load-reward-module.js';
import { codeHash } from './module-code.js';
import { rewardEpisode } from './reward-episode.js';
import type { StateVisits } from './state-visits.js';
import { ScoringError } from './scoring-error.js';

/** The reward of a recipe. */
export interface RewardDefinition {
  readonly components: readonly ComponentConfig[];
  readonly allocation: AllocationRule;
  readonly allocationGamma: number;
  readonly sourceField?: string;
  readonly unlistedSource?: 'fault' | 'common';
}

export interface RewardScorerOptions {
  /** Components from files; `RewardScorer.load` loads them. */
  readonly modules?: ReadonlyMap<string, RewardImplementation>;
  /** Where judges' verdicts are kept; without it, components that ask a judge fail. */
  readonly verdicts?: VerdictStore;
  /** Where visits of states are counted; without it, components that need them fail. */
  readonly visits?: Pick<StateVisits, 'read'>;
  /** False: only verdicts that are kept already count, none is asked for (default true). */
  readonly asksJudges?: boolean;
  readonly judge?: JudgeClientOptions;
}

export interface TokenRewards {
  /** [A] Reward at each action token. */
  readonly rewards: Float32Array;
  /** [E] Total of each episode; NaN = missing. */
  readonly totals: Float64Array;
  /** [S + 1] Steps over action tokens. */
  readonly stepOffsets: Int32Array;
  /** C × [E] What each component gave, unweighted; 0 where it does not score the episode's data source or has no value. */
  readonly components: readonly Float32Array[];
  /** [C] */
  readonly componentWeights: Float32Array;
  /** [E] 0 for episodes with a missing reward: they are left out of training, never counted as 0. */
  readonly trainedEpisodes: Uint8Array;
  readonly numMissing: number;
}

export interface RewardInputs {
  readonly columns: EpisodeColumns;
  readonly batch: TokenBatch;
  /** [E]; needed when the composition reads texts. */
  readonly texts: readonly EpisodeTexts[] | null;
  /**
   * [E] `totals` of the update that is made again, where it is known: an episode that it left out stays out, whatever judges said
   * since.
   */
  readonly recordedTotals?: Float64Array | null;
}

/** One episode to score. */
export interface IdentifiedEpisode {
  readonly episodeId: string;
  readonly episode: RewardEpisode;
}

/** The rewards of a recipe: what composes them, how they reach tokens, and the name of both together. */
export class RewardScorer {
  /** Equal for equal configuration and code, wherever that lies. */
  readonly version: string;
  /** What it composes, as canonical JSON. */
  readonly description: string;
  readonly #composer: RewardComposer;
  readonly #judge: JudgeClient;

  /**
   * @throws RewardError for components that are unknown, doubled or badly configured
   * @throws ScoringError `MODULE_UNREADABLE` when the code of one cannot be read
   */
  constructor(
    private readonly definition: RewardDefinition,
    private readonly options: RewardScorerOptions = {},
  ) {
    const { components, sourceField, unlistedSource } = definition;
    this.#composer = new RewardComposer(components, {
      modules: options.modules,
      sourceField,
      unlistedSource,
    });
    this.#judge = new JudgeClient(options.judge);
    this.description = this.#composer.describe();
    this.version = rewardVersion(this.#composer, this.allocation, {
      hash: (text) => createHash('sha256').update(text).digest('hex'),
      codeOf: codeHash,
    });
  }

  /**
   * With the files that the definition names loaded.
   *
   * @throws ScoringError `MODULE_INVALID`, and what the constructor throws
   */
  static async load(
    definition: RewardDefinition,
    options: Omit<RewardScorerOptions, 'modules'> = {},
  ): Promise<RewardScorer> {
    return new RewardScorer(definition, {
      ...options,
      modules: await loadRewardModules(definition.components),
    });
  }

  get readsTexts(): boolean {
    return this.#composer.readsTexts;
  }

  get asksJudge(): boolean {
    return this.#composer.asksJudge;
  }

  /** What asking judges took since this scorer was made. */
  get judgeUsage(): Readonly<JudgeUsage> {
    return this.#judge.usage;
  }

  /**
   * Scores episodes one by one, judges at once; new verdicts are in the log when it resolves. Where another process asked the same
   * at the same time, the verdict that the log has first counts in both.
   */
  async scoreEpisodes(episodes: readonly IdentifiedEpisode[]): Promise<EpisodeReward[]> {
    const { verdicts, asksJudges = true } = this.options;
    const episodeIds = episodes.map(({ episodeId }) => episodeId);
    const visits = this.#composer.countsVisits ? await this.options.visits?.read(episodeIds) : undefined;
    const contextOf = (episodeId: string) => ({ visitCount: visits?.get(episodeId) });
    if (!this.asksJudge || verdicts === undefined) {
      return Promise.all(
        episodes.map(({ episodeId, episode }) => this.#composer.score(episode, contextOf(episodeId))),
      );
    }
    const known = await verdicts.read(episodeIds);
    const fresh: VerdictOfEpisode[] = [];
    const scored = await Promise.all(
      episodes.map(({ episodeId, episode }) =>
        this.#composer.score(episode, {
          ...contextOf(episodeId),
          judge: async (request, component) => {
            const { answer, newVerdict } = await this.#judge.ask(request, known.get(episodeId) ?? [], {
              onlyKnown: !asksJudges,
            });
            if (newVerdict !== null) fresh.push({ episodeId, component, verdict: newVerdict });
            return answer;
          },
        }),
      ),
    );
    const settled = await verdicts.append(fresh, known);
    const overruled = new Set(
      fresh
        .filter(
          ({ episodeId, verdict }) =>
            firstOn(verdict.promptHash, settled.get(episodeId))?.raw !== verdict.raw,
        )
        .map(({ episodeId }) => episodeId),
    );
    return Promise.all(
      episodes.map(async ({ episodeId, episode }, e) => {
        if (!overruled.has(episodeId)) return scored[e];
        const logged = settled.get(episodeId) ?? [];
        return this.#composer.score(episode, {
          ...contextOf(episodeId),
          judge: async (request) => (await this.#judge.ask(request, logged, { onlyKnown: true })).answer,
        });
      }),
    );
  }

  /**
   * Rewards at the action tokens of a batch.
   *
   * @throws ScoringError `REWARD_CHANGED` where an episode's total is not the recorded one
   */
  async score(inputs: RewardInputs): Promise<TokenRewards> {
    const { columns, batch, recordedTotals = null } = inputs;
    const numEpisodes = columns.episodeIds.length;
    const episodeRewards = new Float64Array(numEpisodes);
    const stepRewards = new Float64Array(columns.steps.length);
    const trainedEpisodes = new Uint8Array(numEpisodes);
    const totals = new Float64Array(numEpisodes).fill(NaN);
    const names = this.#composer.names;
    const components = names.map(() => new Float32Array(numEpisodes));
    const scored = await this.scoreEpisodes(
      columns.episodeIds.map((episodeId, e) => ({ episodeId, episode: rewardEpisode(inputs, e) })),
    );
    scored.forEach(({ total, episodeReward, stepRewards: ofSteps, components: parts }, e) => {
      const recorded = recordedTotals?.[e];
      if (Number.isNaN(recorded)) return;
      if (recorded !== undefined && total !== recorded) {
        throw new ScoringError(
          'REWARD_CHANGED',
          `episode ${columns.episodeIds[e]}: its reward was ${String(recorded)} in this update and is ${total === null ? 'missing' : String(total)} when scored again`,
        );
      }
      if (total === null) return;
      totals[e] = total;
      for (const { name, value } of parts) components[names.indexOf(name)][e] = value ?? 0;
      trainedEpisodes[e] = 1;
      episodeRewards[e] = episodeReward;
      stepRewards.set(ofSteps, columns.stepOffsets[e]);
    });
    const stepOffsets = stepActionOffsets(columns, batch);
    const rewards = allocateRewards(
      { episodeSteps: columns.stepOffsets, stepOffsets, episodeRewards, stepRewards },
      this.allocation,
    );
    const numTrained = trainedEpisodes.reduce((sum, bit) => sum + bit, 0);
    const componentWeights = this.#composer.weights;
    return {
      rewards,
      totals,
      stepOffsets,
      components,
      componentWeights,
      trainedEpisodes,
      numMissing: numEpisodes - numTrained,
    };
  }

  private get allocation() {
    return { rule: this.definition.allocation, gamma: this.definition.allocationGamma };
  }
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
