import type { Recipe } from './recipe.js';

/**
 * Adds to problems that a field asks for what an engine can't do.
 *
 * @param engine as a sentence names it
 */
export function refuser(problems: string[], engine: string) {
  return (field: string, value: unknown, why: string) => {
    problems.push(`${field}: got ${JSON.stringify(value)}, which ${engine} can't honour: ${why}`);
  };
}

/** Refuses all that a recipe asks of a critic, for an engine without one. */
export function criticProblems({ policy, model, loss, optimizer }: Recipe, engine: string, why: string) {
  const problems: string[] = [];
  const refuse = refuser(problems, engine);
  if (policy?.critic) refuse('policy.critic', policy.critic, why);
  if (policy?.valueTrunk === 'own') refuse('policy.valueTrunk', 'own', why);
  if (!policy && model?.valueTrunk === 'own') refuse('model.valueTrunk', 'own', why);
  if (loss.valueCoefficient !== 0) refuse('loss.valueCoefficient', loss.valueCoefficient, why);
  if (typeof optimizer.criticLearningRate === 'number')
    refuse('optimizer.criticLearningRate', optimizer.criticLearningRate, why);
  return problems;
}

/** Refuses guards against steps, for an engine that tells a norm after its step. */
export function guardProblems({ optimizer }: Recipe, engine: string, why: string) {
  const problems: string[] = [];
  const refuse = refuser(problems, engine);
  const { spikeFactor, skipNonFinite } = optimizer.guard ?? {};
  if (typeof spikeFactor === 'number') refuse('optimizer.guard.spikeFactor', spikeFactor, why);
  if (skipNonFinite) refuse('optimizer.guard.skipNonFinite', skipNonFinite, why);
  return problems;
}
