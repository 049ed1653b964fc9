import { WEIGHT_SERVER_KINDS, tokenServer } from '@retrace/chat';
import { agentSettings } from './agent-problems.js';
import { endpointUrls, type EndpointRecipe } from './endpoint-recipe.js';
import { hasAdapters } from './model-recipe.js';
import { resolveEngine } from './engine-problems.js';
import type { Recipe } from './recipe.js';
import { showValue } from './show-value.js';

/** Checks that the server that samples can get the weights that the recipe trains. */
export function endpointProblems(recipe: Recipe): string[] {
  const { collection, context, policy, agent } = recipe;
  const { endpoint } = collection;
  if (!endpoint) return [];
  const { kind } = endpoint;
  if (kind === 'tinker') return tinkerProblems(recipe);
  const { command } = endpoint;
  const problems = addressProblems(endpoint);
  if (!policy) {
    return [
      ...problems,
      'policy: is required where collection.endpoint samples, as the server loads its directory',
    ];
  }
  const numStops = (context.stopStrings?.length ?? 0) + numFormatStops(agent);
  const { maxStopStrings, takesAdapters } = tokenServer(kind);
  if (maxStopStrings !== null && numStops > maxStopStrings) {
    problems.push(
      `context.stopStrings: has ${numStops} with those of agent.format, must have at most ${maxStopStrings} where collection.endpoint.kind is "${kind}"`,
    );
  }
  if ((!takesAdapters || command !== undefined) && hasAdapters(policy)) {
    const kinds = WEIGHT_SERVER_KINDS.filter((each) => !tokenServer(each).takesAdapters);
    problems.push(
      `policy.lora: must be absent where collection.endpoint.kind is ${kinds.map((each) => `"${each}"`).join(' or ')}, or command starts the server: it gets all weights`,
    );
  }
  return problems;
}

/** Checks where the servers are, or how they are started. */
function addressProblems(endpoint: EndpointRecipe): string[] {
  const { urls, url, command } = endpoint;
  const problems: string[] = [];
  if (urls !== undefined && url !== undefined) {
    problems.push(
      `collection.endpoint: has urls (${showValue(urls)}) and url (${showValue(url)}); set one of them to null`,
    );
  } else if ([urls, url, command].filter((way) => way !== undefined).length !== 1) {
    problems.push(
      'collection.endpoint: needs either urls (or url, for one), of servers that run, or command, which starts them',
    );
  }
  const field = urls === undefined ? 'url' : 'urls';
  const addresses = endpointUrls(endpoint);
  for (const address of addresses) {
    if (/^https?:\/\/[^/]+\/?$/.test(address)) continue;
    problems.push(
      `collection.endpoint.${field}: got ${showValue(address)}, must be http(s)://host:port without a path`,
    );
  }
  const places = addresses.map((address) => address.replace(/\/$/, '').toLowerCase());
  const twice = addresses.find((_, n) => places.indexOf(places[n]) < n);
  if (twice !== undefined)
    problems.push(`collection.endpoint.urls: got ${showValue(twice)} twice, must differ from each other`);
  return problems;
}

/** The server is that of the engine, whose section says where it is. */
function tinkerProblems(recipe: Recipe): string[] {
  const problems: string[] = [];
  if (resolveEngine(recipe).kind !== 'tinker')
    problems.push(
      `collection.endpoint.kind: got "tinker", which needs engine "tinker": its server has only the weights that it trained`,
    );
  const numStops = (recipe.context.stopStrings?.length ?? 0) + numFormatStops(recipe.agent);
  if (numStops > 0)
    problems.push(
      `context.stopStrings: has ${numStops} with those of agent.format, must have none where collection.endpoint.kind is "tinker": its server stops at texts or at tokens`,
    );
  return problems;
}

/** 0 for a format that `agentProblems` refuses. */
function numFormatStops(agent: Recipe['agent']): number {
  try {
    return agent ? agentSettings(agent).format.stopStrings.length : 0;
  } catch {
    return 0;
  }
}
