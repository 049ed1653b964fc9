import { createHash } from 'node:crypto';
// Registers the built-in components.
import '../index.js';
import { RewardComposer, type ComponentConfig, type EpisodeReward } from '../composer.js';
import { rewardVersion } from '../reward-version.js';
import type { AllocationRule } from '../allocation/allocation.js';
import type { RewardEpisode } from '../episode.js';
import type { RewardImplementation } from '../component.js';
import type { AssignedRewards } from './assigned-rewards.js';
import { JudgeClient, type JudgeClientOptions, type JudgeUsage } from './judge/judge-client.js';
import { firstOn } from './judge/verdict.js';
import type { VerdictOfEpisode } from './judge/verdict-log.js';
import type { VerdictStore } from './judge/verdict-store.js';
import { loadRewardModules } from './code/load-reward-module.js';
import { codeHash } from './code/module-code.js';
import { rewardEpisode } from './reward-episode.js';
import { decidingModules } from './code/scoring-code.js';
import type { StateVisits } from './state-visits.js';
import { placeRewards, type RewardInputs, type TokenRewards } from './token-rewards.js';

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
  /** Where rewards that were assigned are read; without it, components that need them fail. */
  readonly assigned?: Pick<AssignedRewards, 'read'>;
  /** False: only stored verdicts count, and no judge is asked (default true). */
  readonly asksJudges?: boolean;
  readonly judge?: JudgeClientOptions;
}

/** One episode to score. */
export interface IdentifiedEpisode {
  readonly episodeId: string;
  readonly episode: RewardEpisode;
}

/** The rewards of a recipe: their composition, their allocation to tokens, and the version that names both. */
export class RewardScorer {
  /** Equal for equal configuration and code, independent of folders. */
  readonly version: string;
  /** The composition as canonical JSON. */
  readonly description: string;
  private readonly composer: RewardComposer;
  private readonly judge: JudgeClient;

  /**
   * @throws RewardError for components that are unknown, doubled or badly configured
   * @throws RewardError `MODULE_UNREADABLE` when the code of one cannot be read
   */
  constructor(
    private readonly definition: RewardDefinition,
    private readonly options: RewardScorerOptions = {},
  ) {
    const { components, sourceField, unlistedSource } = definition;
    this.composer = new RewardComposer(components, {
      modules: options.modules,
      sourceField,
      unlistedSource,
    });
    this.judge = new JudgeClient(options.judge);
    this.description = this.composer.describe();
    this.version = rewardVersion(this.composer, this.allocation, {
      hash: (text) => createHash('sha256').update(text).digest('hex'),
      codeOf: codeHash,
      modules: decidingModules(this.composer),
    });
  }

  /**
   * Makes a scorer with the files that the definition names.
   *
   * @throws RewardError `MODULE_INVALID`, and the errors of the constructor
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
    return this.composer.readsTexts;
  }

  get asksJudge(): boolean {
    return this.composer.asksJudge;
  }

  /** Whether it counts how often states were visited. */
  get countsVisits(): boolean {
    return this.composer.countsVisits;
  }

  /** Whether it reads rewards that were assigned. */
  get readsAssigned(): boolean {
    return this.composer.assignedUntil.length > 0;
  }

  /** Requests, tokens and cost of judges since this scorer was made. */
  get judgeUsage(): Readonly<JudgeUsage> {
    return this.judge.usage;
  }

  /**
   * Scores episodes; new verdicts are in the log when it resolves. Where another process asked the same question at the same time, the
   * first verdict in the log counts in both.
   *
   * @throws RewardError `INVALID_ARGUMENT` for an option that the episodes show to be wrong, such as a part of the reward that no environment lists
   */
  async scoreEpisodes(episodes: readonly IdentifiedEpisode[]): Promise<EpisodeReward[]> {
    this.composer.requireOptionsFor(episodes.map(({ episode }) => episode));
    const { verdicts, asksJudges = true } = this.options;
    const episodeIds = episodes.map(({ episodeId }) => episodeId);
    const visits = this.composer.countsVisits ? await this.options.visits?.read(episodeIds) : undefined;
    const assigned = await this.assignedTo(episodeIds);
    const contextOf = (episodeId: string) => ({
      visitCount: visits?.get(episodeId),
      assigned: assigned && ((until: string) => assigned.get(until)?.get(episodeId) ?? []),
    });
    if (!this.asksJudge || verdicts === undefined) {
      return Promise.all(
        episodes.map(({ episodeId, episode }) => this.composer.score(episode, contextOf(episodeId))),
      );
    }
    const known = await verdicts.read(episodeIds);
    const fresh: VerdictOfEpisode[] = [];
    const scored = await Promise.all(
      episodes.map(({ episodeId, episode }) =>
        this.composer.score(episode, {
          ...contextOf(episodeId),
          judge: async (request, component) => {
            const { answer, newVerdict } = await this.judge.ask(request, known.get(episodeId) ?? [], {
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
        return this.composer.score(episode, {
          ...contextOf(episodeId),
          judge: async (request) => (await this.judge.ask(request, logged, { onlyKnown: true })).answer,
        });
      }),
    );
  }

  /**
   * Rewards at the action tokens of a batch.
   *
   * @throws RewardError `REWARD_CHANGED` where an episode's total is not the recorded one
   */
  async score(inputs: RewardInputs): Promise<TokenRewards> {
    const scored = await this.scoreEpisodes(
      inputs.columns.episodeIds.map((episodeId, e) => ({ episodeId, episode: rewardEpisode(inputs, e) })),
    );
    const { names, weights } = this.composer;
    return placeRewards(inputs, scored, { names, weights, allocation: this.allocation });
  }

  /** Assigned rewards by the place up to which they are read, then by episode; undefined where they can't be read. */
  private async assignedTo(episodeIds: readonly string[]) {
    const { assigned } = this.options;
    if (assigned === undefined) return undefined;
    const read = async (until: string) => [until, await assigned.read(episodeIds, until)] as const;
    return new Map(await Promise.all(this.composer.assignedUntil.map(read)));
  }

  private get allocation() {
    return { rule: this.definition.allocation, gamma: this.definition.allocationGamma };
  }
}
