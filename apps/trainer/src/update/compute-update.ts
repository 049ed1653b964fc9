import { imitationUpdate } from './imitation-update.js';
import { policyUpdate } from './policy-update.js';
import { preferenceUpdate } from './preference-update.js';
import { moveReference } from './reference-logprobs.js';
import type { UpdateInputs } from './update-inputs.js';
import type { UpdateResult } from './update-result.js';

/** Computes one planned update: a pure function of plan, batch, recipe and the state of the engine before it. */
export async function computeUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns, recipe, engine, trainerState } = inputs;
  if (plan.stage === 'imitation')
    return imitationUpdate(engine, columns, { recipe, seed: plan.seed, trainerState });
  const result = await (recipe.preference
    ? preferenceUpdate(inputs, recipe.preference)
    : policyUpdate(inputs));
  await moveReference(engine, inputs.reference);
  return result;
}
