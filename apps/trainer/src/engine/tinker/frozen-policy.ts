import type { MicroBatch } from '@retrace/policy';
import type { ModelRequest, TrainingModel, TrainingSession } from '@retrace/tinker';
import { TrainerError } from '../../trainer-error.js';
import type { FixedPolicy } from '../update-engine.js';
import { evaluationData, wantedLogprobs } from './micro-batch-data.js';

/**
 * A stored policy as a model of its own in the server, kept until another is asked for. A server's own snapshots for samplers are no substitute: SkyRL's share
 * the weights that are trained.
 */
export class FrozenPolicy {
  private loaded: { readonly path: string; readonly model: TrainingModel } | null = null;

  constructor(
    private readonly session: TrainingSession,
    private readonly request: ModelRequest,
  ) {}

  /** @throws TrainerError `ENGINE_REFUSED` for a policy that no Tinker server made; TinkerError */
  async model({ location = '' }: FixedPolicy): Promise<TrainingModel> {
    if (this.loaded?.path === location) return this.loaded.model;
    if (!location.startsWith('tinker://')) {
      const message = `a reference policy of another engine can't be evaluated in a Tinker server, which takes no weights`;
      throw new TrainerError('ENGINE_REFUSED', message);
    }
    if (this.loaded) await this.session.unload(this.loaded.model);
    this.loaded = null;
    const model = await this.session.openModel(this.request, { path: location, optimizer: false });
    this.loaded = { path: location, model };
    return model;
  }
}

/** [M of each micro-batch] log π of their wanted tokens. @throws TinkerError */
export async function requestLogprobs(
  model: TrainingModel,
  microBatches: readonly MicroBatch[],
): Promise<readonly Float32Array[]> {
  const calls = microBatches.map(evaluationData);
  const ofTargets = await model.forward(calls);
  let next = 0;
  return microBatches.map((microBatch, c) =>
    wantedLogprobs(microBatch, ofTargets.slice(next, (next += calls[c].length))),
  );
}
