import { imitationUpdate } from './imitation-update.js';
import { policyUpdate } from './policy-update.js';
import { preferenceUpdate } from './preference-update.js';
import type { UpdateInputs } from './update-inputs.js';
import type { UpdateResult } from './update-result.js';

/** Computes one planned update: a pure function of plan, batch, recipe and the engine's state that goes in. */
export async function computeUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns, recipe, engine, trainerState } = inputs;
  if (plan.stage !== 'imitation')
    return recipe.preference ? preferenceUpdate(inputs, recipe.preference) : policyUpdate(inputs);
  return { ...(await imitationUpdate(engine, columns, { recipe, seed: plan.seed })), trainerState };
}
