import type { Recipe } from './recipe.js';
import { criticProblems, guardProblems, refuser } from './refused-duties.js';

const ENGINE = 'back-end "verl" of engine "torch"';

/** Checks that a recipe asks verl's engines for nothing that they don't do here. */
export function verlProblems(recipe: Recipe): string[] {
  const { engine, policy, loss } = recipe;
  if (engine?.backend !== 'verl') return [];
  const problems: string[] = [];
  const refuse = refuser(problems, ENGINE);
  if (engine.shardedCheckpoints) refuse('engine.shardedCheckpoints', true, 'it gives whole tensors');
  if (policy?.lora) refuse('policy.lora', policy.lora, 'it trains all weights');
  if (policy?.adapter) refuse('policy.adapter', policy.adapter, 'it trains all weights');
  if (typeof loss.referenceDecay === 'number')
    refuse('loss.referenceDecay', loss.referenceDecay, 'it averages no weights');
  return [
    ...problems,
    ...criticProblems(recipe, ENGINE, 'critics are models of their own there'),
    ...guardProblems(recipe, ENGINE, 'verl tells the norm of the gradients after its step'),
  ];
}
