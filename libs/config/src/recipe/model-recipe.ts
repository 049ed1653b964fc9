import {
  ArrayUnique,
  IsBoolean,
  IsDivisibleBy,
  IsIn,
  IsOptional,
  Type,
  ValidateNested,
} from '@retrace/validation';
import { Advanced, IsLine, IsList, IsNullable, IsNumberFrom, IsWholeNumberFrom } from './field-rules.js';

const LARGEST = 'no dense model that is published has more';

export const LORA_TARGETS = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;

/** Low-rank adapters, which are trained while the model's own weights stay fixed. */
export class LoraRecipe {
  /** Rank of the two factors of each adapter. */
  @IsWholeNumberFrom(1, 1024, { why: 'adapters of a higher rank are no smaller than the weights' })
  readonly rank!: number;
  /** The output of an adapter is multiplied by alpha/rank. */
  @IsNumberFrom(0, 65_536, { why: 'a larger factor outweighs the weights that are adapted' })
  readonly alpha!: number;
  /** Weight matrices that get an adapter, by their names in Hugging Face's format. */
  @IsList(1, LORA_TARGETS.length)
  @ArrayUnique()
  @IsIn(LORA_TARGETS, { each: true })
  readonly targets!: readonly (typeof LORA_TARGETS)[number][];
}

/** An existing model to start from. */
export class PolicyRecipe {
  /** Directory in Hugging Face's format; relative to the recipe file, or with `--set` to the working directory. */
  @IsLine({ maxLength: 4096 }) readonly model!: string;
  /** Longest context, in tokens. */
  @IsWholeNumberFrom(8, 1_000_000, { unit: 'tokens', why: 'memory grows with the longest context' })
  readonly maxPositions!: number;
  /** New adapters to train; without `lora` and `adapter` all weights are trained. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => LoraRecipe) readonly lora?: LoraRecipe | null;
  /** Directory in peft's format, relative as `model`, whose adapters are trained further, in place of new ones. @defaultValue null */
  @IsNullable() @IsLine({ maxLength: 4096 }) readonly adapter?: string | null;
  /** Whether prompts are written with the directory's chat template, if it has one. @defaultValue true */
  @IsOptional() @IsBoolean() readonly chatTemplate?: boolean;
  /** Whose hidden state the critic reads: the policy's (`shared`), or that of a transformer of its `own`. @defaultValue "shared" */
  @IsOptional() @IsIn(['shared', 'own']) readonly valueTrunk?: 'shared' | 'own';
  /** Directory in Hugging Face's format, relative as `model`, of a model with the same architecture, from whose weights the critic's `own` transformer starts; null starts it from the policy's. @defaultValue null */
  @Advanced() @IsNullable() @IsLine({ maxLength: 4096 }) readonly critic?: string | null;
}

/** A decoder-only transformer to make from random weights: pre-norm RMSNorm, rotary positions, grouped-query attention, SwiGLU. */
export class ModelRecipe {
  /** Number of transformer layers. */
  @IsWholeNumberFrom(1, 128, { unit: 'layers', why: LARGEST }) readonly numLayers!: number;
  /** Width of the residual stream. */
  @IsWholeNumberFrom(8, 16_384, { unit: 'channels', why: LARGEST }) readonly hiddenSize!: number;
  /** Number of attention heads; a multiple of `numKeyValueHeads`. */
  @IsWholeNumberFrom(1, 128, { unit: 'heads', why: LARGEST }) readonly numHeads!: number;
  /** Number of key and value heads, each shared by `numHeads / numKeyValueHeads` heads. */
  @IsWholeNumberFrom(1, 128, { unit: 'heads', why: LARGEST }) readonly numKeyValueHeads!: number;
  /** Width of one attention head; even. */
  @IsDivisibleBy(2, { message: 'must be even (rotary pairs)' })
  @IsWholeNumberFrom(2, 512, { unit: 'channels', why: LARGEST })
  readonly headDim!: number;
  /** Width of the feed-forward layers. */
  @IsWholeNumberFrom(8, 65_536, { unit: 'channels', why: LARGEST }) readonly intermediateSize!: number;
  /** Longest context, in tokens. */
  @IsWholeNumberFrom(8, 1_000_000, { unit: 'tokens', why: 'memory grows with the longest context' })
  readonly maxPositions!: number;
  /** Standard deviation of the output head's initial weights; a small one keeps the first policy near uniform. @defaultValue 0.01 */
  @Advanced()
  @IsNumberFrom(0, 1, { why: 'a larger one makes the first policy nearly deterministic' })
  readonly lmHeadInitializerStd: number = 0.01;
  /** Whether the output head is the token embedding, with which a policy soon learns to repeat words of its context; `lmHeadInitializerStd` then has no effect. @defaultValue false */
  @IsOptional() @IsBoolean() readonly tieWordEmbeddings?: boolean;
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
  /**
   * Where the optimizer's moments, 8 bytes for each trained number, are between steps: on the `device`, in the memory of the `host`, which
   * is another one only where a GPU computes, or on `disk`, in the system's directory for temporary files. Results are the same. @defaultValue "device"
   */
  @IsOptional() @IsIn(['device', 'host', 'disk']) readonly optimizerOffload?: 'device' | 'host' | 'disk';
  /**
   * Whether the weights of the reference policy leave memory between updates, and are read from the checkpoint again for each. Results are
   * the same. @defaultValue false
   */
  @IsOptional() @IsBoolean() readonly referenceOffload?: boolean;
}

/** Whether a policy trains LoRA adapters beside its model, or begins from some. */
export function hasAdapters({ lora, adapter }: PolicyRecipe): boolean {
  return Boolean(lora) || typeof adapter === 'string';
}
