import { IsBoolean, IsDefined, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { AgentRecipe } from './agent-recipe.js';
import { CollectionRecipe, ContextRecipe } from './collection-recipe.js';
import { DataRecipe } from './data-recipe.js';
import { EngineRecipe } from './engine-recipe.js';
import { EnvironmentRecipe } from './environment-recipe.js';
import { DistillationRecipe } from './distillation-recipe.js';
import { EvaluationRecipe } from './evaluation-recipe.js';
import {
  Advanced,
  IsLine,
  IsName,
  IsNameOr,
  IsNullable,
  IsNumberFrom,
  IsWholeNumberFrom,
} from './field-rules.js';
import { InitRecipe } from './init-recipe.js';
import { LossRecipe } from './loss-recipe.js';
import { ComputeRecipe, ModelRecipe, PolicyRecipe } from './model-recipe.js';
import { MonitorsRecipe } from './monitors-recipe.js';
import { OptimizerRecipe } from './optimizer-recipe.js';
import { PreferenceRecipe } from './preference-recipe.js';
import { ProcessRecipe } from './process-recipe.js';
import { AdvantageRecipe, RewardRecipe } from './reward-recipe.js';
import { SamplerRecipe } from './sampler-recipe.js';
import { TaskRecipe } from './task-recipe.js';
import { MAX_UPDATES, UPDATES } from './update-counts.js';

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
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 64, { unit: 'passes', why: 'more updates draw other episodes instead' })
  readonly epochs?: number;
  /** Action tokens in a mini-batch of this stage; null cuts mini-batches as `optimizer` says. @defaultValue null */
  @Advanced()
  @IsNullable()
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
  @IsNullable() @ValidateNested() @Type(() => KeptWeightsRecipe) readonly weights?: KeptWeightsRecipe | null;
  /** Number of the newest optimizer states to keep. @defaultValue 3 */
  @Advanced()
  @IsWholeNumberFrom(2, 10_000, { unit: 'states', why: 'each is twice as large as the weights' })
  readonly keepLast: number = 3;
  /** The optimizer state after every so many updates is kept for good. @defaultValue 25 */
  @Advanced() @IsWholeNumberFrom(1, MAX_UPDATES, UPDATES) readonly keepEvery: number = 25;
}

/** Everything that defines a training run, saved with it. Equal recipe and code give equal results in synchronous training. */
export class Recipe {
  /** Name of the recipe, shown with its runs: letters, digits, dots, underscores and dashes, the first a letter or digit. */
  @IsName() readonly name!: string;
  /** One sentence for people. @defaultValue "" */
  @IsLine({ minLength: 0, maxLength: 1000 }) readonly description: string = '';
  /** Seed of all that is drawn: initial weights, tasks, sampling, order of mini-batches. @defaultValue 1 */
  @IsWholeNumberFrom(0, 2 ** 31 - 1, { why: 'a seed has 31 bits' }) readonly seed: number = 1;
  /** Number of policy updates, after imitation. A recipe has either this or `epochs`, from which it then follows. */
  @IsOptional()
  @IsWholeNumberFrom(1, MAX_UPDATES, { unit: 'updates', why: 'at one a second, more take over four months' })
  readonly numUpdates!: number;
  /** Number of times that training goes over the rows of `tasks`, or over the groups of `data` where all are stored: ⌊epochs · rows / `collection.groupsPerRound`⌋ updates. */
  @IsOptional()
  @IsNumberFrom(0.001, 1_000_000, { unit: 'epochs', why: 'a run has at most 10,000,000 updates' })
  readonly epochs?: number;
  /** Name of a built-in environment, or an environment of your own. */
  @IsNameOr(() => EnvironmentRecipe) readonly environment!: string | EnvironmentRecipe;
  /** Tasks from files; null has the environment draw its own. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => TaskRecipe) readonly tasks?: TaskRecipe | null;
  /** Model to make from random weights. A recipe has either `model` or `policy`. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => ModelRecipe) readonly model?: ModelRecipe | null;
  /** Existing model to start from. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => PolicyRecipe) readonly policy?: PolicyRecipe | null;
  /** Policy of another run to start from. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => InitRecipe) readonly initFrom?: InitRecipe | null;
  /** How an episode becomes tokens. */
  @IsDefined() @ValidateNested() @Type(() => ContextRecipe) readonly context!: ContextRecipe;
  /** Prompts, action format and history of the agent; null shows observations as they are and takes turns as actions. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => AgentRecipe) readonly agent?: AgentRecipe | null;
  /** How episodes are collected. */
  @IsDefined() @ValidateNested() @Type(() => CollectionRecipe) readonly collection!: CollectionRecipe;
  /** Data that updates are trained on; null is the episodes collected for the run. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => DataRecipe) readonly data?: DataRecipe | null;
  /** How groups are chosen for the next update; null is `fifo`, each once. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => SamplerRecipe) readonly sampler?: SamplerRecipe | null;
  /** The rewards of episodes. @defaultValue {} */
  @IsDefined() @ValidateNested() @Type(() => RewardRecipe) readonly reward: RewardRecipe = new RewardRecipe();
  /** How rewards become advantages. */
  @IsDefined() @ValidateNested() @Type(() => AdvantageRecipe) readonly advantage!: AdvantageRecipe;
  /** The loss. @defaultValue {} */
  @IsDefined() @ValidateNested() @Type(() => LossRecipe) readonly loss: LossRecipe = new LossRecipe();
  /** Pairs of episodes instead of advantages; null trains by advantages. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => PreferenceRecipe) readonly preference?: PreferenceRecipe | null;
  /** A teacher whose judgment of each sampled token is its advantage; null has none. @defaultValue null */
  @IsNullable()
  @ValidateNested()
  @Type(() => DistillationRecipe)
  readonly distillation?: DistillationRecipe | null;
  /** The optimizer. */
  @IsDefined() @ValidateNested() @Type(() => OptimizerRecipe) readonly optimizer!: OptimizerRecipe;
  /** Behavior cloning before the policy gradient; null skips it. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => ImitationRecipe) readonly imitation?: ImitationRecipe | null;
  /** Greedy evaluation. @defaultValue {} */
  @IsDefined() @ValidateNested() @Type(() => EvaluationRecipe) readonly evaluation: EvaluationRecipe =
    new EvaluationRecipe();
  /** Engine that computes gradients and makes optimizer steps; null is TensorFlow.js in the trainer's process. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => EngineRecipe) readonly engine?: EngineRecipe | null;
  /** How the processes of a run compute; null is the same as `{}`. @defaultValue {} */
  @Advanced()
  @IsNullable()
  @ValidateNested()
  @Type(() => ComputeRecipe)
  readonly compute?: ComputeRecipe | null;
  /** How a run is divided into processes; null is the same as `{}`. @defaultValue {} */
  @Advanced()
  @IsNullable()
  @ValidateNested()
  @Type(() => ProcessRecipe)
  readonly process?: ProcessRecipe | null;
  /** Which weights and optimizer states are kept. @defaultValue {} */
  @IsDefined() @ValidateNested() @Type(() => CheckpointRecipe) readonly checkpoint: CheckpointRecipe =
    new CheckpointRecipe();
  /** Bounds of the monitors that watch each update; null watches nothing. @defaultValue {} */
  @IsNullable() @ValidateNested() @Type(() => MonitorsRecipe) readonly monitors?: MonitorsRecipe | null;
  /** Whether each update records ratio, advantage, value, KL, entropy, clip and what a teacher said of every token that it trained, for the view `update_tokens`: 37 bytes for each token of each optimizer step, with a teacher 41. @defaultValue false */
  @IsOptional() @IsBoolean() readonly updateTokens?: boolean;
}
