import type { Recipe } from './recipe.js';

/** As vLLM's server has it. */
const MAX_STOP_STRINGS = 4;

/** Checks that the server that samples can get the weights that the recipe trains. */
export function endpointProblems({ collection, context, policy }: Recipe): string[] {
  const { endpoint } = collection;
  if (!endpoint) return [];
  const problems: string[] = [];
  if (!/^https?:\/\/[^/]+\/?$/.test(endpoint.url)) {
    problems.push(
      `collection.endpoint.url: got "${endpoint.url}", must be http(s)://host:port without a path`,
    );
  }
  if (!policy) {
    return [
      ...problems,
      'policy: is required where collection.endpoint samples, as the server loads its directory',
    ];
  }
  const numStops = context.stopStrings?.length ?? 0;
  if (endpoint.kind === 'vllm' && numStops > MAX_STOP_STRINGS) {
    problems.push(
      `context.stopStrings: has ${numStops}, must have at most ${MAX_STOP_STRINGS} where collection.endpoint.kind is "vllm"`,
    );
  }
  const hasAdapters = Boolean(policy.lora) || typeof policy.adapter === 'string';
  if (endpoint.kind === 'vllm' && !hasAdapters) {
    problems.push(
      'policy.lora: is required where collection.endpoint.kind is "vllm", which loads adapters while it runs, but no whole model',
    );
  }
  if (endpoint.kind === 'sglang' && hasAdapters) {
    problems.push(
      'policy.lora: must be absent where collection.endpoint.kind is "sglang", which gets all weights',
    );
  }
  return problems;
}
