import { engineOf } from './engine-problems.js';
import type { TeacherEndpointRecipe } from './distillation-recipe.js';
import type { Recipe } from './recipe.js';

/** Checks that a recipe with a teacher names one, and trains by advantages of single tokens. */
export function distillationProblems(recipe: Recipe): string[] {
  const { distillation, advantage, preference, loss } = recipe;
  if (!distillation) return [];
  const { policy, model, fingerprint, endpoint } = distillation.teacher;
  const problems = endpoint ? endpointProblems(endpoint, recipe) : [];
  const named = Object.entries({ policy, model, endpoint }).flatMap(([name, value]) => (value ? [name] : []));
  if (named.length !== 1) {
    problems.push(
      `distillation.teacher: got ${named.join(' and ') || 'none of policy, model and endpoint'}, must have one of policy, model and endpoint`,
    );
  }
  if (fingerprint && !model)
    problems.push('distillation.teacher.fingerprint: must be absent without distillation.teacher.model');
  if (model && engineOf(recipe).kind === 'torch') {
    problems.push(
      `distillation.teacher.model: got "${model}", must be absent with engine "torch", which evaluates policies of its own model only; name a policy of a run, or a server of the model`,
    );
  }
  if (preference)
    problems.push(
      'distillation: must be null with preference: pairs of episodes have no advantages of tokens',
    );
  if (loss.valueCoefficient !== 0 && !distillation.withReward) {
    problems.push(
      `loss.valueCoefficient: got ${loss.valueCoefficient}, must be 0 without distillation.withReward: nothing would read the values of a critic`,
    );
  }
  if (advantage.shuffle)
    problems.push(
      'advantage.shuffle: got true, must be false with distillation: it permutes no advantage of a teacher',
    );
  return problems;
}

/** A server tells logprobs at temperature 1 only, and may answer otherwise tomorrow. */
function endpointProblems(
  { kind, url, model }: TeacherEndpointRecipe,
  { collection: { temperature }, updateTokens }: Recipe,
): string[] {
  const place = 'distillation.teacher.endpoint';
  const problems: string[] = [];
  if (!/^https?:\/\/[^/?#@]+\/?$/.test(url))
    problems.push(`${place}.url: got "${url}", must be http(s)://host:port without a path`);
  if (kind === 'vllm' && model === undefined)
    problems.push(`${place}.model: missing, must be the name under which the server serves the teacher`);
  if (temperature !== 1) {
    problems.push(
      `collection.temperature: got ${temperature}, must be 1 with ${place}: servers tell the logprobs of a prompt at that temperature`,
    );
  }
  if (updateTokens !== true) {
    problems.push(
      `updateTokens: got ${updateTokens ?? false}, must be true with ${place}: an update is made again with what the server said`,
    );
  }
  return problems;
}
