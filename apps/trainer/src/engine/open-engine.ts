import { engineOf } from '@retrace/config';
import { TensorflowEngine, type TensorflowEngineOptions } from './tensorflow-engine.js';
import type { UpdateEngine } from './update-engine.js';

/**
 * Opens the engine that a recipe asks for, in the state that a run of it starts from.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED`; PolicyError
 */
export async function openEngine(options: TensorflowEngineOptions): Promise<UpdateEngine> {
  if (engineOf(options.recipe).kind !== 'torch') return TensorflowEngine.open(options);
  const { TorchEngine } = await import('./torch/index.js');
  return TorchEngine.open(options);
}
