import type { Recipe } from './recipe.js';

/** Longest context of a run, in tokens. */
export function longestContext({ policy, model }: Pick<Recipe, 'policy' | 'model'>): number {
  return (policy ?? model)?.maxPositions ?? 0;
}

/** Checks that a recipe either makes a model or names one, with a tokenizer that fits it. */
export function modelProblems({ policy, model, context, loss, optimizer, preference }: Recipe): string[] {
  const problems: string[] = [];
  if (policy && model) problems.push('model: must be null or absent where policy.model names a directory');
  if (!policy && !model) problems.push('"model" is required where "policy" is absent');
  if (policy?.lora && typeof policy.adapter === 'string') {
    problems.push('policy.lora: must be null or absent where policy.adapter names a directory');
  }
  if ((context.tokenizer === 'model') !== (policy !== undefined && policy !== null)) {
    problems.push(
      `context.tokenizer: got "${context.tokenizer}", must be ${policy ? '"model" with' : 'word or byte without'} policy.model`,
    );
  }
  const maxPositions = (policy ?? model)?.maxPositions;
  if (maxPositions !== undefined && context.maxNewTokens >= maxPositions) {
    problems.push(
      `context.maxNewTokens: got ${context.maxNewTokens}, must be less than ${policy ? 'policy' : 'model'}.maxPositions (${maxPositions}), or no prompt fits before it`,
    );
  }
  if (model && model.numHeads % model.numKeyValueHeads !== 0) {
    problems.push(
      `model.numHeads: got ${model.numHeads}, must be a multiple of model.numKeyValueHeads (${model.numKeyValueHeads})`,
    );
  }
  if ((policy ?? model)?.valueTrunk === 'own' && loss.valueCoefficient === 0) {
    problems.push(
      `${policy ? 'policy' : 'model'}.valueTrunk: got "own", must be absent where loss.valueCoefficient is 0, as there is no critic`,
    );
  }
  if (policy?.critic && (policy.valueTrunk !== 'own' || policy.lora || policy.adapter)) {
    problems.push(
      'policy.critic: got a directory, must be null without policy.valueTrunk "own", and with adapters: the critic has no weights of its own then',
    );
  }
  if (typeof optimizer.criticLearningRate === 'number' && loss.valueCoefficient === 0) {
    problems.push(
      `optimizer.criticLearningRate: got ${optimizer.criticLearningRate}, must be null where loss.valueCoefficient is 0, as there is no critic`,
    );
  }
  return [...problems, ...criticProblems({ policy, model, optimizer, preference })];
}

/** Checks that a critic which is optimized apart has weights and an optimizer of its own. */
function criticProblems({
  policy,
  model,
  optimizer,
  preference,
}: Pick<Recipe, 'policy' | 'model' | 'optimizer' | 'preference'>): string[] {
  if (!optimizer.critic) return [];
  const needed = [
    ...((policy ?? model)?.valueTrunk === 'own' ? [] : [`${policy ? 'policy' : 'model'}.valueTrunk "own"`]),
    ...(typeof optimizer.criticLearningRate === 'number' ? [] : ['optimizer.criticLearningRate']),
  ];
  if (preference) return ['optimizer.critic: must be null with a preference, which trains no critic'];
  if (needed.length === 0) return [];
  return [
    `optimizer.critic: needs ${needed.join(' and ')}, or must be null: only a critic of its own is trained apart from the policy`,
  ];
}
