import 'reflect-metadata';
import { ALLOCATION_RULES, type AllocationRule } from '@retrace/rewards';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { LossRecipe } from './loss-recipe.js';

/** How the text of an episode becomes tokens, and when a turn of the policy ends. */
export class ContextRecipe {
  /** What the policy sees: only the current `observation`, or the `history` of the whole episode in one context with a KV cache. */
  @IsIn(['observation', 'history']) readonly window!: 'observation' | 'history';
  /** Tokenizer: one token a `word` of the environment's vocabulary, one a `byte` of UTF-8, or the tokenizer of the `model` directory that `policy.model` names. */
  @IsIn(['word', 'byte', 'model']) readonly tokenizer!: 'word' | 'byte' | 'model';
  /** Most tokens that the policy may sample in one turn. */
  @IsInt() @Min(1) @Max(4096) readonly maxNewTokens!: number;
  /** A turn of several tokens ends as soon as its text contains one of these; the action is the text before it. @defaultValue [] */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(16)
  @IsString({ each: true })
  @IsNotEmpty({ each: true })
  readonly stopStrings?: readonly string[];
}

const LORA_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;

/** Low-rank adapters, which are trained while the model's own weights stay fixed. */
export class LoraRecipe {
  /** Rank of the two factors of each adapter. */
  @IsInt() @Min(1) @Max(1024) readonly rank!: number;
  /** The output of an adapter is multiplied by alpha/rank. */
  @IsNumber() @Min(0) readonly alpha!: number;
  /** Weight matrices that get an adapter, by their names in Hugging Face's format. */
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(LORA_TARGETS, { each: true })
  readonly targets!: readonly (typeof LORA_TARGETS)[number][];
}

/** An existing model to start from. */
export class PolicyRecipe {
  /** Directory in Hugging Face's format; relative to the recipe file, or with `--set` to the working directory. */
  @IsString() @IsNotEmpty() readonly model!: string;
  /** Longest context, in tokens. */
  @IsInt() @Min(8) @Max(1_000_000) readonly maxPositions!: number;
  /** Adapters to train; without them all weights are trained. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => LoraRecipe) readonly lora?: LoraRecipe | null;
  /** Whether prompts are written with the directory's chat template, if it has one. @defaultValue true */
  @IsOptional() @IsBoolean() readonly chatTemplate?: boolean;
  /** Whose hidden state the critic reads: the policy's (`shared`), or that of a transformer of its `own`. @defaultValue "shared" */
  @IsOptional() @IsIn(['shared', 'own']) readonly valueTrunk?: 'shared' | 'own';
}

/** A decoder-only transformer to make from random weights: pre-norm RMSNorm, rotary positions, grouped-query attention, SwiGLU. */
export class ModelRecipe {
  /** Number of transformer layers. */
  @IsInt() @Min(1) @Max(128) readonly numLayers!: number;
  /** Width of the residual stream. */
  @IsInt() @Min(8) @Max(16384) readonly hiddenSize!: number;
  /** Number of attention heads; a multiple of `numKeyValueHeads`. */
  @IsInt() @Min(1) @Max(128) readonly numHeads!: number;
  /** Number of key and value heads, each shared by `numHeads / numKeyValueHeads` heads. */
  @IsInt() @Min(1) @Max(128) readonly numKeyValueHeads!: number;
  /** Width of one attention head; even. */
  @IsInt() @Min(2) @Max(512) readonly headDim!: number;
  /** Width of the feed-forward layers. */
  @IsInt() @Min(8) @Max(65536) readonly intermediateSize!: number;
  /** Longest context, in tokens. */
  @IsInt() @Min(8) @Max(1_000_000) readonly maxPositions!: number;
  /** Standard deviation of the output head's initial weights; a small one keeps the first policy near uniform. */
  @IsNumber() @Min(0) @Max(1) readonly lmHeadInitializerStd!: number;
  /** Whose hidden state the critic reads: the policy's (`shared`), or that of a transformer of its `own`. @defaultValue "shared" */
  @IsOptional() @IsIn(['shared', 'own']) readonly valueTrunk?: 'shared' | 'own';
}

/** How the processes of a run compute. */
export class ComputeRecipe {
  /**
   * Precision of matrix products. With `bfloat16`, TensorFlow rounds the factors on processors with AMX or AVX512-BF16; sums and
   * weights stay float32, and the collector's and the trainer's logprobs of a token differ by that rounding. @defaultValue "float32"
   */
  @IsOptional() @IsIn(['float32', 'bfloat16']) readonly matMulPrecision?: 'float32' | 'bfloat16';
}

/** How episodes are collected. */
export class CollectionRecipe {
  /** Groups in a round; one policy update trains on one round. */
  @IsInt() @Min(1) @Max(65536) readonly groupsPerRound!: number;
  /** Episodes in a group; they share task and environment seed, and are sampled independently. */
  @IsInt() @Min(1) @Max(1024) readonly groupSize!: number;
  /** Most episodes that a collector plays at the same time; changes speed and memory, never the result. */
  @IsInt() @Min(1) @Max(8192) readonly concurrentEpisodes!: number;
  /** Policy versions by which the behavior policy may lag behind the policy being trained; 0 is synchronous training. */
  @IsInt() @Min(0) @Max(64) readonly maxStaleness!: number;
  /** Temperature of sampling in training episodes. */
  @IsNumber() @Min(0.01) @Max(10) readonly temperature!: number;
}

/** One part of the reward. It names either a built-in component (`reward`) or a file (`module`). */
export class RewardComponentRecipe {
  /** Name of a built-in component. */
  @IsOptional() @IsString() @IsNotEmpty() readonly reward?: string;
  /** Path of your own file whose default export is a component; relative to the recipe file. */
  @IsOptional() @IsString() @IsNotEmpty() readonly module?: string;
  /** Name in the breakdown of the reward; without one, the component's own name. */
  @IsOptional() @IsString() @IsNotEmpty() readonly name?: string;
  /** Factor of this component in the total. @defaultValue 1 */
  @IsOptional() @IsNumber() readonly weight?: number;
  /** Options of the component; those left out take its defaults. @defaultValue {} */
  @IsOptional() @IsObject() readonly options?: Readonly<Record<string, unknown>>;
  /** Data sources whose episodes this component scores; without it, those of every source. */
  @IsOptional() @IsArray() @ArrayNotEmpty() @IsString({ each: true }) readonly sources?: readonly string[];
}

/** What an episode is worth, and how that reaches its tokens. */
export class RewardRecipe {
  /** Parts of the reward; the total is their weighted sum. */
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => RewardComponentRecipe)
  readonly components!: readonly RewardComponentRecipe[];
  /** How rewards reach tokens: `perStep` leaves each on the last token of its step, the others spread the reward of the whole episode. */
  @IsIn(ALLOCATION_RULES) readonly allocation!: AllocationRule;
  /** Discount per action token of the rules `discounted` and `discountedLegacy`. */
  @IsNumber() @Min(0) @Max(1) readonly allocationGamma!: number;
  /** Dotted path of the task's field that names its data source; where a task lacks it, the environment is the source. @defaultValue "data_source" */
  @IsOptional() @IsString() @IsNotEmpty() readonly sourceField?: string;
  /** An episode whose source no component names is a `fault`, or is scored by the components without `sources` (`common`). @defaultValue "fault" */
  @IsOptional() @IsIn(['fault', 'common']) readonly unlistedSource?: 'fault' | 'common';
}

/** How rewards become advantages. */
export class AdvantageRecipe {
  /** Name of an advantage estimator. */
  @IsString() @IsNotEmpty() readonly estimator!: string;
  /** The estimator's options; those left out take its defaults. */
  @IsObject() readonly options!: Readonly<Record<string, unknown>>;
  /** Least similarity, 2·LCS/(sum of both lengths), at which two anchors of a group count as one state for GiGPO. @defaultValue 1 */
  @IsOptional() @IsNumber() @Min(0.01) @Max(1) readonly anchorSimilarity?: number;
  /** Permutes the advantages within the batch: a control experiment, which must stop all learning. */
  @IsBoolean() readonly shuffle!: boolean;
}

/** AdamW, its schedule, and how a batch is cut into optimizer steps. */
export class OptimizerRecipe {
  /** Learning rate at its peak. */
  @IsNumber() @Min(0) @Max(1) readonly learningRate!: number;
  /** Decay of the mean of the gradients. */
  @IsNumber() @Min(0) @Max(1) readonly beta1!: number;
  /** Decay of the mean of the squared gradients. */
  @IsNumber() @Min(0) @Max(1) readonly beta2!: number;
  /** Added to the root of the squared gradients' mean. */
  @IsNumber() @Min(0) readonly epsilon!: number;
  /** Decoupled weight decay, times the learning rate. */
  @IsNumber() @Min(0) readonly weightDecay!: number;
  /** Largest norm of all gradients together; larger ones are scaled down to it. */
  @IsNumber() @Min(0) readonly maxGradientNorm!: number;
  /** Fraction of the updates over which the learning rate rises linearly from 0. */
  @IsNumber() @Min(0) @Max(1) readonly warmupFraction!: number;
  /** Fraction of the updates after which the learning rate falls linearly; at least `warmupFraction`. */
  @IsNumber() @Min(0) @Max(1) readonly decayStartFraction!: number;
  /** Learning rate at the last update, as a fraction of the peak. */
  @IsNumber() @Min(0) @Max(1) readonly finalFraction!: number;
  /** Number of times that an update goes over its batch. */
  @IsInt() @Min(1) @Max(64) readonly epochs!: number;
  /** Action tokens in a mini-batch, which is one optimizer step. */
  @IsInt() @Min(1) readonly miniBatchActionTokens!: number;
  /** Most tokens in one forward pass; changes memory, never the result. */
  @IsInt() @Min(1) readonly maxTokensPerMicroBatch!: number;
  /** Whether layers are computed again for the gradient instead of keeping their activations: less memory, more time, the same result. @defaultValue false */
  @IsOptional() @IsBoolean() readonly recomputeLayers?: boolean;
  /** Processes on one machine that share each optimizer step, each on a GPU of its own where there are several. The gradients are summed in another order for each number, so results differ by rounding. @defaultValue 1 */
  @IsOptional() @IsInt() @Min(1) @Max(64) readonly dataParallel?: number;
}

/** Behavior cloning of stored episodes of a scripted agent, before the policy gradient. */
export class ImitationRecipe {
  /** Name of the environment's scripted agent to imitate. */
  @IsString() @IsNotEmpty() readonly agent!: string;
  /** Number of the agent's episodes to collect. */
  @IsInt() @Min(1) readonly numEpisodes!: number;
  /** Number of updates of this stage. */
  @IsInt() @Min(1) readonly numUpdates!: number;
  /** Episodes drawn for each update. */
  @IsInt() @Min(1) readonly episodesPerUpdate!: number;
  /** Constant learning rate of this stage. */
  @IsNumber() @Min(0) @Max(1) readonly learningRate!: number;
}

/** Greedy episodes that measure the policy and are never trained on. */
export class EvaluationRecipe {
  /** Validation runs after every so many updates and after the last; 0 is never. */
  @IsInt() @Min(0) readonly everyUpdates!: number;
  /** Episodes of a validation, on the validation split. */
  @IsInt() @Min(0) readonly numValidationEpisodes!: number;
  /** Episodes on the test split after the last update. */
  @IsInt() @Min(0) readonly numTestEpisodes!: number;
}

/** Which optimizer states are kept, and so which updates can be replayed. The weights of every version are kept. */
export class CheckpointRecipe {
  /** Number of the newest optimizer states to keep. */
  @IsInt() @Min(2) readonly keepLast!: number;
  /** The optimizer state after every so many updates is kept for good. */
  @IsInt() @Min(1) readonly keepEvery!: number;
}

/** Everything that defines a training run, saved with it. Equal recipe and code give equal results in synchronous training. */
export class Recipe {
  /** Name of the recipe, shown with its runs. */
  @IsString() @IsNotEmpty() readonly name!: string;
  /** One sentence for people. */
  @IsString() readonly description!: string;
  /** Name of the environment. */
  @IsString() @IsNotEmpty() readonly environment!: string;
  /** Seed of all that is drawn: initial weights, tasks, sampling, order of mini-batches. */
  @IsInt() @Min(0) @Max(2 ** 31 - 1) readonly seed!: number;
  /** Number of policy updates, after imitation. */
  @IsInt() @Min(1) @Max(10_000_000) readonly numUpdates!: number;
  /** How an episode becomes tokens. */
  @IsDefined() @ValidateNested() @Type(() => ContextRecipe) readonly context!: ContextRecipe;
  /** Model to make from random weights. A recipe has either `model` or `policy`. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ModelRecipe) readonly model?: ModelRecipe | null;
  /** Existing model to start from. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => PolicyRecipe) readonly policy?: PolicyRecipe | null;
  /** How the processes of a run compute. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ComputeRecipe) readonly compute?: ComputeRecipe | null;
  /** How episodes are collected. */
  @IsDefined() @ValidateNested() @Type(() => CollectionRecipe) readonly collection!: CollectionRecipe;
  /** What episodes are worth. */
  @IsDefined() @ValidateNested() @Type(() => RewardRecipe) readonly reward!: RewardRecipe;
  /** How rewards become advantages. */
  @IsDefined() @ValidateNested() @Type(() => AdvantageRecipe) readonly advantage!: AdvantageRecipe;
  /** The loss. */
  @IsDefined() @ValidateNested() @Type(() => LossRecipe) readonly loss!: LossRecipe;
  /** The optimizer. */
  @IsDefined() @ValidateNested() @Type(() => OptimizerRecipe) readonly optimizer!: OptimizerRecipe;
  /** Behavior cloning before the policy gradient; null skips it. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => ImitationRecipe) readonly imitation!: ImitationRecipe | null;
  /** Greedy evaluation. */
  @IsDefined() @ValidateNested() @Type(() => EvaluationRecipe) readonly evaluation!: EvaluationRecipe;
  /** Which optimizer states are kept. */
  @IsDefined() @ValidateNested() @Type(() => CheckpointRecipe) readonly checkpoint!: CheckpointRecipe;
}
