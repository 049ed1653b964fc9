import { engineOf } from '@retrace/config';
import { TensorflowEngine, type TensorflowEngineOptions } from './tensorflow-engine.js';
import { TorchEngine } from './torch/torch-engine.js';
import type { UpdateEngine } from './update-engine.js';

/**
 * Opens the engine that a recipe asks for, in the state that a run of it starts from.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED`; PolicyError
 */
export function openEngine(options: TensorflowEngineOptions): Promise<UpdateEngine> {
  return engineOf(options.recipe).kind === 'torch'
    ? TorchEngine.open(options)
    : TensorflowEngine.open(options);
}
