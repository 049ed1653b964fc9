import type { BackendName } from '@retrace/compute';
import { openEngine } from '../engine/open-engine.js';
import { TensorflowEngine, type TensorflowEngineOptions } from '../engine/tensorflow-engine.js';
import type { UpdateEngine } from '../engine/update-engine.js';
import { WorkerPool } from './worker-pool.js';

interface WorkerOptions {
  /** That of the trainer: every process computes on the same kind of device. */
  readonly backend: BackendName;
  /** The machine's GPUs. */
  readonly gpus: readonly string[];
  readonly onNotice: (line: string) => void;
}

/**
 * The engine of a recipe, which shares its steps with worker processes where `optimizer.dataParallel` is above 1.
 *
 * @throws TrainerError `WORKER_LOST`, PolicyError
 */
export async function openSharedEngine(
  options: TensorflowEngineOptions,
  workers: WorkerOptions,
): Promise<UpdateEngine> {
  const { recipe, vocabSize, tokenizerHash } = options;
  const engine = await openEngine(options);
  const numShards = recipe.optimizer.dataParallel ?? 1;
  if (numShards === 1 || !(engine instanceof TensorflowEngine)) return engine;
  const { modelHash, numTrainedValues } = engine;
  const replica = { recipe, vocabSize, tokenizerHash, modelHash, numTrainedValues };
  engine.shareWith(await WorkerPool.start(numShards - 1, { ...replica, ...workers }));
  return engine;
}
