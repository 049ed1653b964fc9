import { tokenServer } from '@retrace/chat';
import { resolveEngine } from './engine-problems.js';
import type { DistillationRecipe, TeacherEndpointRecipe } from './distillation-recipe.js';
import type { Recipe } from './recipe.js';

/** Checks that a recipe with a teacher names one, and trains by advantages of single tokens. */
export function distillationProblems(recipe: Recipe): string[] {
  const { distillation, advantage, preference, loss } = recipe;
  if (!distillation) return [];
  const { policy, model, endpoint } = distillation.teacher;
  const problems = [
    ...(endpoint ? endpointProblems(endpoint, recipe) : []),
    ...topKProblems(distillation, recipe),
  ];
  const named = Object.entries({ policy, model, endpoint }).flatMap(([name, value]) => (value ? [name] : []));
  if (named.length !== 1) {
    problems.push(
      `distillation.teacher: got ${named.join(' and ') || 'none of policy, model and endpoint'}, must have one of policy, model and endpoint`,
    );
  }
  if (model && resolveEngine(recipe).kind === 'torch') {
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

/** The likeliest tokens of a teacher come from an engine that has its weights, or from a server that tells them. */
function topKProblems({ topK, objective, teacher }: DistillationRecipe, recipe: Recipe): string[] {
  const { sampler } = recipe;
  if (typeof topK !== 'number') {
    return objective === 'forwardKl'
      ? [
          'distillation.objective: got "forwardKl", must be "reverseKl" without distillation.topK: a sampled token tells nothing of what the teacher would have said',
        ]
      : [];
  }
  const { kind, backend } = resolveEngine(recipe);
  const place = `distillation.topK: got ${topK}, must be null with`;
  const problems: string[] = [];
  if (kind === 'tinker')
    problems.push(`${place} engine "tinker", which tells the logprobs of the sampled tokens only`);
  if (backend === 'verl')
    problems.push(`${place} engine.backend "verl", which tells the logprobs of the sampled tokens only`);
  if (sampler?.rule === 'prioritized' && (sampler.priority ?? 'absoluteAdvantage') === 'absoluteAdvantage') {
    problems.push(
      'sampler.priority: got "absoluteAdvantage", must be "tdError" or SQL with distillation.topK: what the teacher says is no part of the advantages then',
    );
  }
  if (teacher.endpoint?.kind === 'tinker') {
    problems.push(
      `${place} distillation.teacher.endpoint.kind "tinker": such a server tells the logprobs of the prompt's own tokens only; name a vLLM or SGLang server, a policy of a run, or a model directory`,
    );
  }
  return problems;
}

/** A server tells logprobs at temperature 1 only, and may answer otherwise tomorrow. */
function endpointProblems(
  { kind, url, model }: TeacherEndpointRecipe,
  { collection: { temperature }, updateTokens, optimizer: { guard }, advantage: { resampling } }: Recipe,
): string[] {
  const place = 'distillation.teacher.endpoint';
  const again = 'an update is made again with what the server said of the tokens of its steps';
  const problems = addressProblems(`${place}.url`, url, kind === 'tinker');
  if ((kind === 'tinker' || tokenServer(kind).servesByName) && !model)
    problems.push(`${place}.model: missing, must be the name under which the server serves the teacher`);
  if (temperature !== 1) {
    problems.push(
      `collection.temperature: got ${temperature}, must be 1 with ${place}: servers tell the logprobs of a prompt at that temperature`,
    );
  }
  if (updateTokens !== true)
    problems.push(`updateTokens: got ${updateTokens ?? false}, must be true with ${place}: ${again}`);
  if (guard)
    problems.push(
      `optimizer.guard: must be null with ${place}: ${again}, and a step that it leaves out has none`,
    );
  if (resampling) {
    problems.push(
      `advantage.resampling: must be null with ${place}: ${again}, and an episode that it leaves out has none`,
    );
  }
  return problems;
}

function addressProblems(field: string, url: string, mayHavePath: boolean): string[] {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address !== null && (address.username !== '' || address.password !== ''))
    return [`${field}: must have no user name and no password; a key goes into apiKeyVariable`];
  const isPlain = address !== null && (mayHavePath || `${address.origin}/` === address.href);
  if (isPlain && /^https?:$/.test(address.protocol)) return [];
  return [`${field}: got "${url}", must be http(s)://host:port${mayHavePath ? '' : ' without a path'}`];
}
