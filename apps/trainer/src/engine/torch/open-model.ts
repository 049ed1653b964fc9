import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Recipe } from '@retrace/config';
import {
  CheckpointFiles,
  policyCheckpointMetadata,
  type BaseModel,
  type TransformerConfig,
} from '@retrace/policy';
import type { UsedEngine } from '@retrace/trajectory';
import { TrainerError } from '../../trainer-error.js';
import { TensorflowEngine, type TensorflowEngineOptions } from '../tensorflow-engine.js';
import type { EngineConnection } from './engine-connection.js';
import { workerVersion } from './used-backend.js';

/** The model as trainer and worker know it. */
export interface OpenedModel {
  readonly recipe: Recipe;
  readonly config: TransformerConfig;
  readonly modelHash: string;
  readonly ratioTolerance: number;
  readonly used: UsedEngine;
  /** Text entries of a policy's file. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Answer to an opening. */
interface Opened {
  readonly instance: string;
  readonly ratioTolerance: number;
}

/** Answer of an engine that is asked for itself. */
interface EngineStatus {
  readonly protocol: number;
  readonly versions: { readonly torch: string };
  readonly device: string;
  readonly worldSize: number;
  /** `native`, or the version and the engine of another package; absent from workers before these. */
  readonly backend?: string;
}

/** Of the wire (clients/python/src/retrace/engine/README.md). */
const PROTOCOL = 4;

function requireProtocol({ protocol }: EngineStatus): void {
  if (protocol === PROTOCOL) return;
  throw new TrainerError(
    'ENGINE_REFUSED',
    `the worker speaks protocol ${protocol}; must be ${PROTOCOL}: install the Python package of this version of Retrace, and start the worker again`,
  );
}

/** The worker evaluates saved weights of its own model only. */
function requireOwnShape(teacher: TransformerConfig | null, own: TransformerConfig): void {
  if (teacher === null || JSON.stringify(teacher) === JSON.stringify(own)) return;
  const names = Object.keys({ ...own, ...teacher }) as (keyof TransformerConfig)[];
  const differing = names.filter((name) => JSON.stringify(teacher[name]) !== JSON.stringify(own[name]));
  throw new TrainerError(
    'TEACHER_REFUSED',
    `distillation.teacher.policy: its model differs from that of the policy in ${differing.join(', ')}; engine "torch" evaluates teachers of the policy's own model only`,
  );
}

/**
 * Opens a recipe's model in a worker, with the weights that TensorFlow.js makes for it: the same bits, so the same first policy.
 *
 * @throws TrainerError `ENGINE_REFUSED`, `ENGINE_LOST`, `TEACHER_REFUSED`; PolicyError as `TensorflowEngine.open`
 */
export async function openModel(
  options: TensorflowEngineOptions,
  connection: EngineConnection,
): Promise<OpenedModel> {
  const first = await TensorflowEngine.open(options);
  try {
    const { recipe } = options;
    const { modelHash, identity } = first;
    const { config } = first.model;
    requireOwnShape(first.teacherConfig, config);
    requireProtocol(await connection.read<EngineStatus>('engine'));
    const opened = await connection.open<Opened>(openRequest(recipe, config, identity.base));
    await loadFirst(first, options.checkpoints, connection);
    return {
      recipe,
      config,
      modelHash,
      ratioTolerance: Math.max(opened.ratioTolerance, first.ratioTolerance),
      used: usedEngine(await connection.read<EngineStatus>('engine'), recipe),
      metadata: policyCheckpointMetadata(config, identity),
    };
  } finally {
    await first.close();
  }
}

/** Hands the weights over through a directory beside the checkpoints, which the worker sees too. */
async function loadFirst(
  first: TensorflowEngine,
  checkpoints: CheckpointFiles,
  connection: EngineConnection,
): Promise<void> {
  const directory = await checkpoints.makeScratch();
  try {
    const start = new CheckpointFiles(directory);
    const weights = await start.locate(await first.saveWeights(start));
    await connection.change('load', { weights, optimizer: null });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function openRequest(
  { engine, optimizer }: Recipe,
  config: TransformerConfig,
  base: BaseModel | null,
): object {
  const { lora } = config;
  const { beta1, beta2, epsilon, weightDecay, criticLearningRate } = optimizer;
  return {
    nonce: randomUUID(),
    model: { shape: config, ...base },
    lora: lora ? { rank: lora.rank, alpha: lora.alpha, targetModules: lora.targets } : null,
    valueHead: config.valueHead,
    valueTrunk: config.valueTrunk ?? null,
    precision: engine?.precision ?? 'float32',
    recomputeLayers: engine?.recomputeLayers ?? optimizer.recomputeLayers ?? false,
    offload: engine?.offload ?? false,
    maxTokensPerMicroBatch: optimizer.maxTokensPerMicroBatch,
    ...(engine?.backend === 'verl' && { verl: engine.options ?? {} }),
    optimizer: { beta1, beta2, epsilon, weightDecay, separateCritic: typeof criticLearningRate === 'number' },
  };
}

function usedEngine(
  { versions, device, worldSize, backend = 'native' }: EngineStatus,
  { engine }: Recipe,
): UsedEngine {
  return {
    kind: 'torch',
    version: workerVersion(versions.torch, backend),
    device,
    numProcesses: worldSize,
    precision: engine?.precision ?? 'float32',
  };
}
