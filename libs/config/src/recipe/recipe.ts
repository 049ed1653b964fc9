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

/** How an episode becomes tokens. */
export class ContextRecipe {
  /** `observation`: each prompt is the current observation alone. `history`: the whole episode in one context, with a KV cache. */
  @IsIn(['observation', 'history']) readonly window!: 'observation' | 'history';
  /** `model`: the tokenizer of the directory that `policy.model` names. */
  @IsIn(['word', 'byte', 'model']) readonly tokenizer!: 'word' | 'byte' | 'model';
  @IsInt() @Min(1) @Max(4096) readonly maxNewTokens!: number;
  /** A turn of several tokens ends as soon as its text has one of these in it; the action is the text before it. Absent: none. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(16)
  @IsString({ each: true })
  @IsNotEmpty({ each: true })
  readonly stopStrings?: readonly string[];
}

const LORA_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;

/** Low-rank adapters: they are trained, and the model's own weights stay as they are. */
export class LoraRecipe {
  @IsInt() @Min(1) @Max(1024) readonly rank!: number;
  /** Adapters count alpha/rank times. */
  @IsNumber() @Min(0) readonly alpha!: number;
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(LORA_TARGETS, { each: true })
  readonly targets!: readonly (typeof LORA_TARGETS)[number][];
}

/** A model that exists, to start from. */
export class PolicyRecipe {
  /** A directory in Hugging Face's format; relative to the recipe's file, or to where the command runs. */
  @IsString() @IsNotEmpty() readonly model!: string;
  @IsInt() @Min(8) @Max(1_000_000) readonly maxPositions!: number;
  /** Absent or null: all weights are trained. */
  @IsOptional() @ValidateNested() @Type(() => LoraRecipe) readonly lora?: LoraRecipe | null;
  /** Write prompts with the directory's chat template, if it has one (default true). */
  @IsOptional() @IsBoolean() readonly chatTemplate?: boolean;
  /** Whose hidden state the critic reads: the policy's (default), or that of a trunk of its own. */
  @IsOptional() @IsIn(['shared', 'own']) readonly valueTrunk?: 'shared' | 'own';
}

/** A model from random weights. Decoder-only transformer: pre-norm RMSNorm, rotary, grouped-query attention, SwiGLU. */
export class ModelRecipe {
  @IsInt() @Min(1) @Max(128) readonly numLayers!: number;
  @IsInt() @Min(8) @Max(16384) readonly hiddenSize!: number;
  @IsInt() @Min(1) @Max(128) readonly numHeads!: number;
  @IsInt() @Min(1) @Max(128) readonly numKeyValueHeads!: number;
  @IsInt() @Min(2) @Max(512) readonly headDim!: number;
  @IsInt() @Min(8) @Max(65536) readonly intermediateSize!: number;
  @IsInt() @Min(8) @Max(1_000_000) readonly maxPositions!: number;
  /** Standard deviation of the output head at initialisation; small keeps the first policy near uniform. */
  @IsNumber() @Min(0) @Max(1) readonly lmHeadInitializerStd!: number;
  /** Whose hidden state the critic reads: the policy's (default), or that of a trunk of its own. */
  @IsOptional() @IsIn(['shared', 'own']) readonly valueTrunk?: 'shared' | 'own';
}

/** How the processes of a run compute. */
export class ComputeRecipe {
  /**
   * `bfloat16`: TensorFlow rounds what it multiplies to bfloat16 on processors that have AMX or AVX512-BF16; sums and weights stay
   * float32. The collector's and the trainer's logprobs of one token then differ by that rounding. Default `float32`.
   */
  @IsOptional() @IsIn(['float32', 'bfloat16']) readonly matMulPrecision?: 'float32' | 'bfloat16';
}

export class CollectionRecipe {
  /** Groups collected per round; one policy update consumes one round. */
  @IsInt() @Min(1) @Max(65536) readonly groupsPerRound!: number;
  /** Episodes that share task and environment seed. */
  @IsInt() @Min(1) @Max(1024) readonly groupSize!: number;
  @IsInt() @Min(1) @Max(8192) readonly concurrentEpisodes!: number;
  /** Versions that the behavior policy may lag behind the policy being trained; 0 = synchronous. */
  @IsInt() @Min(0) @Max(64) readonly maxStaleness!: number;
  @IsNumber() @Min(0.01) @Max(10) readonly temperature!: number;
}

export class RewardComponentRecipe {
  /** Which component of `@retrace/rewards`; or `module`. */
  @IsOptional() @IsString() @IsNotEmpty() readonly reward?: string;
  /** A file of one's own whose default export is the component; relative to the recipe's file. */
  @IsOptional() @IsString() @IsNotEmpty() readonly module?: string;
  /** What it is called in the breakdown; default: the component's name. */
  @IsOptional() @IsString() @IsNotEmpty() readonly name?: string;
  /** Default 1. */
  @IsOptional() @IsNumber() readonly weight?: number;
  @IsOptional() @IsObject() readonly options?: Readonly<Record<string, unknown>>;
  /** Data sources whose episodes it scores; default: all. */
  @IsOptional() @IsArray() @ArrayNotEmpty() @IsString({ each: true }) readonly sources?: readonly string[];
}

export class RewardRecipe {
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => RewardComponentRecipe)
  readonly components!: readonly RewardComponentRecipe[];
  /** How rewards reach tokens. */
  @IsIn(ALLOCATION_RULES) readonly allocation!: AllocationRule;
  /** Discount of the discounted rules. */
  @IsNumber() @Min(0) @Max(1) readonly allocationGamma!: number;
  /** Where a task says its data source (dotted path, default `data_source`); without it, the environment is the source. */
  @IsOptional() @IsString() @IsNotEmpty() readonly sourceField?: string;
  /** An episode whose source no component names: a fault (default), or left to the components that name none. */
  @IsOptional() @IsIn(['fault', 'common']) readonly unlistedSource?: 'fault' | 'common';
}

export class AdvantageRecipe {
  /** Name of an advantage estimator of `@retrace/algorithms`. */
  @IsString() @IsNotEmpty() readonly estimator!: string;
  /** The estimator's options; those left out take its defaults. */
  @IsObject() readonly options!: Readonly<Record<string, unknown>>;
  /**
   * Anchors of one group that are at least so alike count as one state for GiGPO, 2·LCS/(length of both); default: equal ones alone.
   */
  @IsOptional() @IsNumber() @Min(0.01) @Max(1) readonly anchorSimilarity?: number;
  /** Control experiment: permute advantages inside the batch, which must stop all learning. */
  @IsBoolean() readonly shuffle!: boolean;
}

export class OptimizerRecipe {
  @IsNumber() @Min(0) @Max(1) readonly learningRate!: number;
  @IsNumber() @Min(0) @Max(1) readonly beta1!: number;
  @IsNumber() @Min(0) @Max(1) readonly beta2!: number;
  @IsNumber() @Min(0) readonly epsilon!: number;
  @IsNumber() @Min(0) readonly weightDecay!: number;
  @IsNumber() @Min(0) readonly maxGradientNorm!: number;
  /** Schedule by updates, never by wall time: linear warm-up, constant, linear decay. */
  @IsNumber() @Min(0) @Max(1) readonly warmupFraction!: number;
  @IsNumber() @Min(0) @Max(1) readonly decayStartFraction!: number;
  @IsNumber() @Min(0) @Max(1) readonly finalFraction!: number;
  @IsInt() @Min(1) @Max(64) readonly epochs!: number;
  /** Action tokens per optimizer step. */
  @IsInt() @Min(1) readonly miniBatchActionTokens!: number;
  /** Tokens per forward pass; changes memory, never the result. */
  @IsInt() @Min(1) readonly maxTokensPerMicroBatch!: number;
  /** Compute layers again for the gradient instead of keeping their activations; changes memory and time, never the result (default false). */
  @IsOptional() @IsBoolean() readonly recomputeLayers?: boolean;
  /** Processes on one machine that share each optimizer step, each on a GPU of its own where there are several (default 1). Other sums of the same gradients: results differ by rounding from one number to another. */
  @IsOptional() @IsInt() @Min(1) @Max(64) readonly dataParallel?: number;
}

/** Behavior cloning on expert episodes from the store, before the policy gradient. */
export class ImitationRecipe {
  @IsString() @IsNotEmpty() readonly agent!: string;
  @IsInt() @Min(1) readonly numEpisodes!: number;
  @IsInt() @Min(1) readonly numUpdates!: number;
  @IsInt() @Min(1) readonly episodesPerUpdate!: number;
  @IsNumber() @Min(0) @Max(1) readonly learningRate!: number;
}

export class EvaluationRecipe {
  /** Greedy validation episodes each `everyUpdates` policy versions; 0 = never. */
  @IsInt() @Min(0) readonly everyUpdates!: number;
  @IsInt() @Min(0) readonly numValidationEpisodes!: number;
  /** Greedy episodes on the test split after the last update. */
  @IsInt() @Min(0) readonly numTestEpisodes!: number;
}

export class CheckpointRecipe {
  /** Optimizer states kept for replay: the newest ones … */
  @IsInt() @Min(2) readonly keepLast!: number;
  /** … and every n-th. Weights of every version are kept. */
  @IsInt() @Min(1) readonly keepEvery!: number;
}

/**
 * Everything that defines a training run, saved with it in `RunStarted`.
 * Equal recipe, seed and code give equal results in synchronous mode.
 */
export class Recipe {
  @IsString() @IsNotEmpty() readonly name!: string;
  @IsString() readonly description!: string;
  @IsString() @IsNotEmpty() readonly environment!: string;
  @IsInt() @Min(0) @Max(2 ** 31 - 1) readonly seed!: number;
  @IsInt() @Min(1) @Max(10_000_000) readonly numUpdates!: number;
  @IsDefined() @ValidateNested() @Type(() => ContextRecipe) readonly context!: ContextRecipe;
  /** What to make a model of; null or absent where `policy` names one. */
  @IsOptional() @ValidateNested() @Type(() => ModelRecipe) readonly model?: ModelRecipe | null;
  @IsOptional() @ValidateNested() @Type(() => PolicyRecipe) readonly policy?: PolicyRecipe | null;
  @IsOptional() @ValidateNested() @Type(() => ComputeRecipe) readonly compute?: ComputeRecipe | null;
  @IsDefined() @ValidateNested() @Type(() => CollectionRecipe) readonly collection!: CollectionRecipe;
  @IsDefined() @ValidateNested() @Type(() => RewardRecipe) readonly reward!: RewardRecipe;
  @IsDefined() @ValidateNested() @Type(() => AdvantageRecipe) readonly advantage!: AdvantageRecipe;
  @IsDefined() @ValidateNested() @Type(() => LossRecipe) readonly loss!: LossRecipe;
  @IsDefined() @ValidateNested() @Type(() => OptimizerRecipe) readonly optimizer!: OptimizerRecipe;
  @IsOptional() @ValidateNested() @Type(() => ImitationRecipe) readonly imitation!: ImitationRecipe | null;
  @IsDefined() @ValidateNested() @Type(() => EvaluationRecipe) readonly evaluation!: EvaluationRecipe;
  @IsDefined() @ValidateNested() @Type(() => CheckpointRecipe) readonly checkpoint!: CheckpointRecipe;
}
