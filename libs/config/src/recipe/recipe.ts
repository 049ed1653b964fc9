import { RESAMPLING_RULES, type ResamplingRule } from '@retrace/algorithms';
import { ALLOCATION_RULES, type AllocationRule } from '@retrace/rewards';
import { IsBoolean, IsDefined, IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { AgentRecipe } from './agent-recipe.js';
import { DataRecipe } from './data-recipe.js';
import { EngineRecipe } from './engine-recipe.js';
import { EnvironmentRecipe } from './environment-recipe.js';
import { DistillationRecipe } from './distillation-recipe.js';
import { EndpointRecipe } from './endpoint-recipe.js';
import { EvaluationRecipe } from './evaluation-recipe.js';
import {
  IsLine,
  IsList,
  IsName,
  IsNameOr,
  IsNumberFrom,
  IsOptions,
  IsText,
  IsWholeNumberFrom,
} from './field-rules.js';
import { InitRecipe } from './init-recipe.js';
import { LossRecipe } from './loss-recipe.js';
import { ComputeRecipe, ModelRecipe, PolicyRecipe } from './model-recipe.js';
import { MonitorsRecipe } from './monitors-recipe.js';
import { OptimizerRecipe } from './optimizer-recipe.js';
import { PreferenceRecipe } from './preference-recipe.js';
import { ProcessRecipe } from './process-recipe.js';
import { SamplerRecipe } from './sampler-recipe.js';
import { TaskRecipe } from './task-recipe.js';
import { MAX_UPDATES, UPDATES } from './update-counts.js';

const TIMEOUT = { unit: 'milliseconds', why: 'the most is a day' };

/** How the text of an episode becomes tokens, and when a turn of the policy ends. */
export class ContextRecipe {
  /** Context that the policy sees: only the current `observation`, or the `history` of the whole episode in one context with a KV cache. */
  @IsIn(['observation', 'history']) readonly window!: 'observation' | 'history';
  /** Tokenizer: one token a `word` of the environment's vocabulary, one a `byte` of UTF-8, or the tokenizer of the `model` directory that `policy.model` names. */
  @IsIn(['word', 'byte', 'model']) readonly tokenizer!: 'word' | 'byte' | 'model';
  /** Most tokens that the policy may sample in one turn. */
  @IsWholeNumberFrom(1, 4096, { unit: 'tokens', why: 'a turn is kept in memory as a whole' })
  readonly maxNewTokens!: number;
  /** A turn of several tokens ends as soon as its text contains one of these; the action is the text before it. @defaultValue [] */
  @IsOptional()
  @IsList(0, 16)
  @IsText({ maxLength: 200, each: true })
  readonly stopStrings?: readonly string[];
  /**
   * Response to an observation that no longer fits into the context of its episode: the episode ends as truncated
   * (`truncate`), or with window `history` the oldest turns leave the context until it is at most half full (`dropOldest`). A first
   * observation that does not fit always ends its episode, before any action. @defaultValue "truncate"
   */
  @IsOptional() @IsIn(['truncate', 'dropOldest']) readonly whenFull?: 'truncate' | 'dropOldest';
}

/** How episodes are collected. */
export class CollectionRecipe {
  /** Groups in a round; one policy update trains on one round. */
  @IsWholeNumberFrom(1, 65_536, { unit: 'groups', why: 'an update holds its round in memory' })
  readonly groupsPerRound!: number;
  /** Episodes in a group; they share task and environment seed, and are sampled independently. */
  @IsWholeNumberFrom(1, 1024, { unit: 'episodes', why: 'an update holds its round in memory' })
  readonly groupSize!: number;
  /** Most episodes that a collector plays at the same time; changes speed and memory, never the result. */
  @IsWholeNumberFrom(1, 8192, { unit: 'episodes', why: 'each keeps its keys and values in memory' })
  readonly concurrentEpisodes!: number;
  /** Policy versions by which the behavior policy may lag behind the policy being trained; 0 is synchronous training. @defaultValue 0 */
  @IsWholeNumberFrom(0, 64, { unit: 'policy versions', why: 'older samples say nothing about the policy' })
  readonly maxStaleness: number = 0;
  /** Temperature of sampling in training episodes. @defaultValue 1 */
  @IsNumberFrom(0.01, 10, { why: 'below, sampling is greedy; above, it is uniform' })
  readonly temperature: number = 1;
  /**
   * Number of likeliest tokens that training episodes sample among; 0 is all. Only for algorithms that imitate (`filtered-imitation`, `best-of-n`, `awr`): for
   * the others a token may leave what the policy can sample so, and has no ratio. @defaultValue 0
   */
  @IsOptional()
  @IsWholeNumberFrom(0, 10_000_000, { unit: 'tokens', why: 'no vocabulary has more' })
  readonly topK?: number;
  /** Probability of the likeliest tokens that training episodes sample among, as with `topK`; 1 is all. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(0.001, 1, { why: 'it is a probability, and at 0 nothing is left' })
  readonly topP?: number;
  /** Longest time that an environment may take for a reset; after it the episode ends as truncated, without a step. @defaultValue 60000 */
  @IsOptional() @IsWholeNumberFrom(1, 86_400_000, TIMEOUT) readonly resetTimeoutMs?: number;
  /** Time limit of a single step: the episode that misses it keeps the steps before, and a late answer is discarded. @defaultValue 60000 */
  @IsOptional() @IsWholeNumberFrom(1, 86_400_000, TIMEOUT) readonly stepTimeoutMs?: number;
  /** Number of episodes in a row, in one collector, whose environment fails before the collector gives up. @defaultValue 64 */
  @IsOptional()
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'episodes', why: 'a run in which all fail has to end' })
  readonly maxFailuresInARow?: number;
  /** Server that samples the policy's turns; null samples in the collector. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => EndpointRecipe) readonly endpoint?: EndpointRecipe | null;
  /** Success of a truncated episode whose environment does not tell it: a `failure`, or `unknown`. @defaultValue "failure" */
  @IsOptional() @IsIn(['failure', 'unknown']) readonly truncatedSuccess?: 'failure' | 'unknown';
}

/** One part of the reward. It names either a built-in component (`reward`) or a file (`module`). */
export class RewardComponentRecipe {
  /** Name of a built-in component. */
  @IsOptional() @IsName() readonly reward?: string;
  /** Path of your own file whose default export is a component; relative to the recipe file. */
  @IsOptional() @IsLine({ maxLength: 4096 }) readonly module?: string;
  /** Name in the breakdown of the reward; without one, the component's own name. */
  @IsOptional() @IsName() readonly name?: string;
  /** Factor of this component in the total. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(-1e6, 1e6, { why: 'beside a larger part of the total, float32 loses the others' })
  readonly weight?: number;
  /** Options of the component; those left out take its defaults. @defaultValue {} */
  @IsOptional() @IsOptions() readonly options?: Readonly<Record<string, unknown>>;
  /** Whether the option `until` of component `assigned` was left out, and filled in by `retrace train`. @defaultValue false */
  @IsOptional() @IsBoolean() readonly isUntilFilledIn?: boolean;
  /** Data sources whose episodes this component scores; without it, those of every source. */
  @IsOptional() @IsList(1, 1000) @IsLine({ maxLength: 200, each: true }) readonly sources?: readonly string[];
}

/** The reward of an episode, and how it reaches its tokens. */
export class RewardRecipe {
  /** Parts of the reward; the total is their weighted sum. */
  @IsList(1, 100)
  @ValidateNested({ each: true })
  @Type(() => RewardComponentRecipe)
  readonly components!: readonly RewardComponentRecipe[];
  /** How rewards reach tokens: `perStep` leaves each on the last token of its step, the others spread the reward of the whole episode. */
  @IsIn(ALLOCATION_RULES) readonly allocation!: AllocationRule;
  /** Discount per action token of the rules `discounted` and `discountedLegacy`. @defaultValue 1 */
  @IsNumberFrom(0, 1, { why: 'a larger discount grows with the length' }) readonly allocationGamma: number =
    1;
  /** Dotted path of the task's field that names its data source; where a task lacks it, the environment is the source. @defaultValue "data_source" */
  @IsOptional() @IsLine({ maxLength: 200 }) readonly sourceField?: string;
  /** An episode whose source no component names is a `fault`, or is scored by the components without `sources` (`common`). @defaultValue "fault" */
  @IsOptional() @IsIn(['fault', 'common']) readonly unlistedSource?: 'fault' | 'common';
}

/** Draws the episodes that an update trains from themselves, with replacement, by their returns (PF-PPO). */
export class ResamplingRecipe {
  /** Weight of an episode: |return|^power (`power`), 1 for the largest and the smallest return of the update and 0 for the others (`extremes`), or 0.4 for the largest and 0.1 for the others (`best`). */
  @IsIn(RESAMPLING_RULES) readonly rule!: ResamplingRule;
  /** Exponent of the rule `power`. @defaultValue 2 */
  @IsOptional()
  @IsNumberFrom(0.01, 100, { why: 'a larger one trains a single episode' })
  readonly power?: number;
}

/** How rewards become advantages. */
export class AdvantageRecipe {
  /** Name of an advantage estimator. */
  @IsName() readonly estimator!: string;
  /** The estimator's options; those left out take its defaults. @defaultValue {} */
  @IsOptions() readonly options: Readonly<Record<string, unknown>> = {};
  /** Least similarity, 2·LCS/(sum of both lengths), at which two anchors of a group count as one state for GiGPO. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(0.01, 1, { why: 'it is a fraction, and at 0 all states are one' })
  readonly anchorSimilarity?: number;
  /**
   * Whether the value after a cut is what a critic says of the final observation (`true`), or 0 (`false`), as in verl, which takes an episode that was cut
   * for one that ended. For estimators with a critic. @defaultValue true
   */
  @IsOptional() @IsBoolean() readonly bootstrapTruncated?: boolean;
  /** How often each episode is trained, drawn after the advantages are known; null is once. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ResamplingRecipe) readonly resampling?: ResamplingRecipe | null;
  /** Permutes the advantages within the batch: a control experiment, which must stop all learning. @defaultValue false */
  @IsBoolean() readonly shuffle: boolean = false;
}

/** Behavior cloning of stored episodes of a scripted agent, before the policy gradient. */
export class ImitationRecipe {
  /** Name of the environment's scripted agent to imitate. */
  @IsName() readonly agent!: string;
  /** Number of the agent's episodes to collect. */
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'episodes', why: 'all are collected before the first update' })
  readonly numEpisodes!: number;
  /** Number of updates of this stage. */
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'updates', why: 'the policy gradient begins after them' })
  readonly numUpdates!: number;
  /** Episodes drawn for each update. */
  @IsWholeNumberFrom(1, 65_536, { unit: 'episodes', why: 'an update holds them in memory' })
  readonly episodesPerUpdate!: number;
  /** Constant learning rate of this stage. */
  @IsNumberFrom(0, 1, { why: 'a step of 1 changes every weight by more than its size' })
  readonly learningRate!: number;
  /** Number of times that an update of this stage goes over its episodes. @defaultValue 1 */
  @IsOptional()
  @IsWholeNumberFrom(1, 64, { unit: 'passes', why: 'more updates draw other episodes instead' })
  readonly epochs?: number;
  /** Action tokens in a mini-batch of this stage; null cuts mini-batches as `optimizer` says. @defaultValue null */
  @IsOptional()
  @IsWholeNumberFrom(1, 100_000_000, { unit: 'tokens', why: 'an update has no more' })
  readonly miniBatchActionTokens?: number | null;
}

/**
 * Which policy versions keep their weights. Beside these it is always those that a resume, an optimizer state that is kept, a KL term or a
 * validation to come needs.
 */
export class KeptWeightsRecipe {
  /** Number of the newest versions to keep; at least `collection.maxStaleness` + 2 are kept. */
  @IsWholeNumberFrom(1, MAX_UPDATES, { unit: 'versions', why: 'the newest is the one that plays' })
  readonly keepLast!: number;
  /** Number of the versions with the highest validation success to keep; 0 keeps none for that. */
  @IsWholeNumberFrom(0, MAX_UPDATES, { unit: 'versions', why: 'there are no more than updates' })
  readonly keepBest!: number;
  /** The version after every so many updates is kept for good, and with it the first. */
  @IsWholeNumberFrom(1, MAX_UPDATES, UPDATES) readonly keepEvery!: number;
}

/** Which weights and optimizer states are kept. A replay makes again what leads from the nearest of them to its update. */
export class CheckpointRecipe {
  /** Which versions keep their weights; null keeps those of every version. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => KeptWeightsRecipe) readonly weights?: KeptWeightsRecipe | null;
  /** Number of the newest optimizer states to keep. */
  @IsWholeNumberFrom(2, 10_000, { unit: 'states', why: 'each is twice as large as the weights' })
  readonly keepLast!: number;
  /** The optimizer state after every so many updates is kept for good. */
  @IsWholeNumberFrom(1, MAX_UPDATES, UPDATES) readonly keepEvery!: number;
}

/** Everything that defines a training run, saved with it. Equal recipe and code give equal results in synchronous training. */
export class Recipe {
  /** Name of the recipe, shown with its runs: letters, digits, dots, underscores and dashes, the first a letter or digit. */
  @IsName() readonly name!: string;
  /** One sentence for people. */
  @IsLine({ minLength: 0, maxLength: 1000 }) readonly description!: string;
  /** Name of a built-in environment, or an environment of your own. */
  @IsNameOr(() => EnvironmentRecipe) readonly environment!: string | EnvironmentRecipe;
  /** Seed of all that is drawn: initial weights, tasks, sampling, order of mini-batches. */
  @IsWholeNumberFrom(0, 2 ** 31 - 1, { why: 'a seed has 31 bits' }) readonly seed!: number;
  /** Number of policy updates, after imitation. A recipe has either this or `epochs`, from which it then follows. */
  @IsOptional()
  @IsWholeNumberFrom(1, MAX_UPDATES, { unit: 'updates', why: 'at one a second, more take over four months' })
  readonly numUpdates!: number;
  /** Number of times that training goes over the rows of `tasks`, or over the groups of `data` where all are stored: ⌊epochs · rows / `collection.groupsPerRound`⌋ updates. */
  @IsOptional()
  @IsNumberFrom(0.001, 1_000_000, { unit: 'epochs', why: 'a run has at most 10,000,000 updates' })
  readonly epochs?: number;
  /** Tasks from files; null has the environment draw its own. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => TaskRecipe) readonly tasks?: TaskRecipe | null;
  /** How an episode becomes tokens. */
  @IsDefined() @ValidateNested() @Type(() => ContextRecipe) readonly context!: ContextRecipe;
  /** Prompts, action format and history of the agent; null shows observations as they are and takes turns as actions. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => AgentRecipe) readonly agent?: AgentRecipe | null;
  /** Model to make from random weights. A recipe has either `model` or `policy`. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ModelRecipe) readonly model?: ModelRecipe | null;
  /** Existing model to start from. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => PolicyRecipe) readonly policy?: PolicyRecipe | null;
  /** Policy of another run to start from. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => InitRecipe) readonly initFrom?: InitRecipe | null;
  /** How the processes of a run compute. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ComputeRecipe) readonly compute?: ComputeRecipe | null;
  /** Engine that computes gradients and makes optimizer steps; null is TensorFlow.js in the trainer's process. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => EngineRecipe) readonly engine?: EngineRecipe | null;
  /** How a run is divided into processes. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ProcessRecipe) readonly process?: ProcessRecipe | null;
  /** How episodes are collected. */
  @IsDefined() @ValidateNested() @Type(() => CollectionRecipe) readonly collection!: CollectionRecipe;
  /** Data that updates are trained on; null is the episodes collected for the run. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => DataRecipe) readonly data?: DataRecipe | null;
  /** How groups are chosen for the next update; null is `fifo`, each once. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => SamplerRecipe) readonly sampler?: SamplerRecipe | null;
  /** The rewards of episodes. */
  @IsDefined() @ValidateNested() @Type(() => RewardRecipe) readonly reward!: RewardRecipe;
  /** How rewards become advantages. */
  @IsDefined() @ValidateNested() @Type(() => AdvantageRecipe) readonly advantage!: AdvantageRecipe;
  /** The loss. */
  @IsDefined() @ValidateNested() @Type(() => LossRecipe) readonly loss!: LossRecipe;
  /** Pairs of episodes instead of advantages; null trains by advantages. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => PreferenceRecipe) readonly preference?: PreferenceRecipe | null;
  /** A teacher whose judgment of each sampled token is its advantage; null has none. @defaultValue null */
  @IsOptional()
  @ValidateNested()
  @Type(() => DistillationRecipe)
  readonly distillation?: DistillationRecipe | null;
  /** The optimizer. */
  @IsDefined() @ValidateNested() @Type(() => OptimizerRecipe) readonly optimizer!: OptimizerRecipe;
  /** Behavior cloning before the policy gradient; null skips it. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ImitationRecipe) readonly imitation!: ImitationRecipe | null;
  /** Greedy evaluation. */
  @IsDefined() @ValidateNested() @Type(() => EvaluationRecipe) readonly evaluation!: EvaluationRecipe;
  /** Bounds of the monitors that watch each update; null watches nothing. @defaultValue {} */
  @IsOptional() @ValidateNested() @Type(() => MonitorsRecipe) readonly monitors?: MonitorsRecipe | null;
  /** Whether each update records ratio, advantage, value, KL, entropy, clip and what a teacher said of every token that it trained, for the view `update_tokens`: 37 bytes for each token of each optimizer step, with a teacher 41. @defaultValue false */
  @IsOptional() @IsBoolean() readonly updateTokens?: boolean;
  /** Which weights and optimizer states are kept. */
  @IsDefined() @ValidateNested() @Type(() => CheckpointRecipe) readonly checkpoint!: CheckpointRecipe;
}
