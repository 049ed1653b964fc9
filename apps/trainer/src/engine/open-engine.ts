import { resolveEngine } from '@retrace/config';
import { TensorflowEngine, type TensorflowEngineOptions } from './tensorflow-engine.js';
import type { UpdateEngine } from './update-engine.js';

/**
 * Opens the engine that a recipe asks for, in the state that a run of it starts from.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED`; PolicyError
 */
export async function openEngine(options: TensorflowEngineOptions): Promise<UpdateEngine> {
  switch (resolveEngine(options.recipe).kind) {
    case 'tensorflow':
      return TensorflowEngine.open(options);
    case 'torch':
      return (await import('./torch/index.js')).TorchEngine.open(options);
    case 'tinker':
      return (await import('./tinker/index.js')).TinkerEngine.open(options);
  }
}
