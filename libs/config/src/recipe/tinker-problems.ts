import { getAdvantageEstimator } from '@retrace/algorithms';
import { LORA_TARGETS } from './model-recipe.js';
import type { Recipe } from './recipe.js';
import { criticProblems, guardProblems, refuser } from './refused-duties.js';

/** Why a server can't do it: the API has logprobs of tokens, and steps of AdamW on adapters. */
const NO_ENTROPY = 'the API tells no entropies';
const NO_WEIGHTS = 'a server takes no weights';
const ENGINE = 'engine "tinker"';

/** Checks that a recipe asks a server of the Tinker API for nothing that the API does not have. What single servers don't have shows when one is opened. */
export function tinkerProblems(recipe: Recipe): string[] {
  return [
    ...addressProblems(recipe),
    ...modelProblems(recipe),
    ...criticProblems(recipe, ENGINE, 'the API has no critic'),
    ...guardProblems(recipe, ENGINE, 'a server tells the norm of the gradients after its step'),
    ...updateProblems(recipe),
  ];
}

function addressProblems({ engine }: Recipe): string[] {
  const url = engine?.url;
  if (url === undefined)
    return ['engine.url: is required where engine.kind is "tinker": the address of the server'];
  const address = URL.canParse(url) ? new URL(url) : null;
  const isPlain =
    address !== null && /^https?:$/.test(address.protocol) && address.search + address.hash === '';
  if (!isPlain) return [`engine.url: got "${url}", must be http(s)://host with any port and path`];
  if (address.username === '' && address.password === '') return [];
  return ['engine.url: must have no user name and no password; a key goes into engine.tokenFile'];
}

function modelProblems({ policy, initFrom, distillation }: Recipe): string[] {
  if (!policy)
    return [
      'policy: is required with engine "tinker", as the server has a base model; name its directory here',
    ];
  const problems: string[] = [];
  const refuse = refuser(problems, ENGINE);
  if (!policy.lora && !policy.adapter)
    problems.push('policy.lora: is required with engine "tinker", which trains adapters');
  if (policy.lora && policy.lora.targets.length < LORA_TARGETS.length) {
    const all = `must be ${LORA_TARGETS.join(', ')} with engine "tinker", whose server adapts them all`;
    problems.push(`policy.lora.targets: got ${policy.lora.targets.join(', ')}, ${all}`);
  }
  if (policy.adapter) refuse('policy.adapter', policy.adapter, NO_WEIGHTS);
  if (initFrom) problems.push(`initFrom: must be null with engine "tinker": ${NO_WEIGHTS}`);
  if (distillation && !distillation.teacher.endpoint)
    problems.push(`distillation.teacher: must be an endpoint with engine "tinker": ${NO_WEIGHTS}`);
  return problems;
}

function updateProblems({ loss, optimizer, collection, advantage }: Recipe): string[] {
  const problems: string[] = [];
  const refuse = refuser(problems, ENGINE);
  if (optimizer.recomputeLayers)
    refuse('optimizer.recomputeLayers', true, 'its server decides this by itself');
  if (collection.temperature !== 1)
    refuse('collection.temperature', collection.temperature, 'a server evaluates tokens at temperature 1');
  if (loss.entropyCoefficient !== 0) refuse('loss.entropyCoefficient', loss.entropyCoefficient, NO_ENTROPY);
  if (loss.entropyFloor) problems.push(`loss.entropyFloor: must be null with engine "tinker": ${NO_ENTROPY}`);
  if (loss.topEntropyFraction) refuse('loss.topEntropyFraction', loss.topEntropyFraction, NO_ENTROPY);
  if (typeof loss.referenceDecay === 'number')
    refuse('loss.referenceDecay', loss.referenceDecay, 'a server averages no weights');
  if (readsSquares(advantage.estimator))
    refuse('advantage.estimator', advantage.estimator, 'it reads Σπ², which the API does not tell');
  return problems;
}

/** False for an estimator that `algorithmProblems` refuses. */
function readsSquares(estimator: string): boolean {
  try {
    return getAdvantageEstimator(estimator).requires.includes('sumSquaredProbabilities');
  } catch {
    return false;
  }
}
