import { IsBoolean, IsIn, IsOptional } from '@retrace/validation';
import { ENGINE_BACKENDS, ENGINE_KINDS, type EngineKind } from './choices.js';
import { Advanced, IsLine, IsNumberFrom, IsOptions, IsWholeNumberFrom } from './field-rules.js';
import { NotWith, OnlyWhere, OnlyWith } from './sibling-rules.js';

/** Of `url`. */
const STARTED = 'which names a worker that runs already';

/** The engine that computes gradients and makes optimizer steps. The same recipe gives the same update on each, apart from rounding, so this field is no part of a recipe's hash. */
export class EngineRecipe {
  /** `tensorflow`: TensorFlow.js in the trainer's process. `torch`: a worker in Python, which the trainer starts, or that answers at `url`. `tinker`: a server of the Tinker API at `url`, which trains adapters. */
  @IsIn(ENGINE_KINDS) readonly kind!: EngineKind;
  /** Address of a worker that somebody else started (torchrun, Ray, Slurm), without a path: `http://127.0.0.1:8100`. It must see the checkpoint directory under the same path. For `tinker` that of the server, with any path: `https://host/services/tinker`. */
  @OnlyWhere('kind', ['torch', 'tinker'])
  @IsOptional()
  @IsLine({ maxLength: 2000 })
  readonly url?: string;
  /** File with the token that the worker at `url` was started with, or with the API key of the Tinker server; relative to the recipe file. */
  @OnlyWith('url', 'it is for the server there, and a worker that the trainer starts gets its own')
  @IsOptional()
  @IsLine({ maxLength: 4096 })
  readonly tokenFile?: string;
  /** For `tinker`: name under which the server has the base model; without it, the path of `policy.model`. */
  @OnlyWhere('kind', ['tinker'])
  @IsOptional()
  @IsLine({ maxLength: 2000 })
  readonly baseModel?: string;
  /** Processes of the worker that the trainer starts; they share model and optimizer (FSDP). @defaultValue 1 */
  @OnlyWhere('kind', ['torch'])
  @NotWith('url', STARTED)
  @IsOptional()
  @IsWholeNumberFrom(1, 1024, { unit: 'processes', why: 'the trainer starts them on one machine' })
  readonly processes?: number;
  /** Python that has torch: a program of the path, or a path relative to the recipe file. @defaultValue "python3" */
  @OnlyWhere('kind', ['torch'])
  @NotWith('url', STARTED)
  @IsOptional()
  @IsLine({ maxLength: 4096 })
  readonly python?: string;
  /** For `torch`: what computes in the worker: its own model (`native`), or the FSDP engine of the package `verl`, which trains all weights of a model without a critic. @defaultValue "native" */
  @OnlyWhere('kind', ['torch'])
  @IsOptional()
  @IsIn(ENGINE_BACKENDS)
  readonly backend?: (typeof ENGINE_BACKENDS)[number];
  /** Settings of verl's engine, under the names of its `FSDPEngineConfig`, such as `fsdp_size`. */
  @OnlyWhere('backend', ['verl'])
  @Advanced()
  @IsOptional()
  @IsOptions()
  readonly options?: Readonly<Record<string, unknown>>;
  /** Type in which the worker computes; weights and moments are float32 either way. @defaultValue "float32" */
  @OnlyWhere('kind', ['torch'])
  @IsOptional()
  @IsIn(['float32', 'bfloat16'])
  readonly precision?: 'float32' | 'bfloat16';
  /** Peak of the device of one process in FLOP/s, as its maker states it for dense matrix products in this precision (989e12 for an H100 in bfloat16). Each update then records `perf/mfu`. */
  @OnlyWhere('kind', ['tensorflow', 'torch'])
  @Advanced()
  @IsOptional()
  @IsNumberFrom(1e6, 1e18, { unit: 'FLOP/s', why: 'no device is slower or faster' })
  readonly peakFlops?: number;
  /** Whether layers are computed again for the gradient instead of keeping their activations; without it, as `optimizer.recomputeLayers` says. */
  @OnlyWhere('kind', ['torch'])
  @Advanced()
  @IsOptional()
  @IsBoolean()
  readonly recomputeLayers?: boolean;
  /** Whether weights and moments are in the host's memory while they are not used. @defaultValue false */
  @OnlyWhere('kind', ['torch'])
  @Advanced()
  @IsOptional()
  @IsBoolean()
  readonly offload?: boolean;
  /** Whether each process of the worker writes its own rows of weights and moments, as files of their own, in place of one process that collects all. Every engine but verl's reads them, in any number of processes. @defaultValue false */
  @OnlyWhere('kind', ['torch'])
  @Advanced()
  @IsOptional()
  @IsBoolean()
  readonly shardedCheckpoints?: boolean;
}
