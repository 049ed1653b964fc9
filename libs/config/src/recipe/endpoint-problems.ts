import { WEIGHT_SERVER_KINDS, tokenServer } from '@retrace/chat';
import { agentSettings } from './agent-problems.js';
import type { EndpointRecipe } from './endpoint-recipe.js';
import { hasAdapters } from './model-recipe.js';
import { engineOf } from './engine-problems.js';
import type { Recipe } from './recipe.js';

/** Fields of servers that a recipe names by themselves. */
const NOT_OF_TINKER = [
  ...(['url', 'command', 'startTimeoutMs', 'directory', 'apiKeyVariable', 'timeoutMs'] as const),
  ...(['maxRetries', 'requestsPerMinute', 'tokensPerMinute'] as const),
] satisfies readonly (keyof EndpointRecipe)[];

/** Checks that the server that samples can get the weights that the recipe trains. */
export function endpointProblems(recipe: Recipe): string[] {
  const { collection, context, policy, agent } = recipe;
  const { endpoint } = collection;
  if (!endpoint) return [];
  const { kind } = endpoint;
  if (kind === 'tinker') return tinkerProblems(endpoint, recipe);
  const problems: string[] = [];
  const { command } = endpoint;
  if ((endpoint.url === undefined) === (command === undefined)) {
    problems.push(
      'collection.endpoint: needs either url, of a server that runs, or command, which starts one',
    );
  }
  for (const part of ['{port}', '{model}', '{name}']) {
    if (command === undefined || command.some((word) => word.includes(part))) continue;
    problems.push(`collection.endpoint.command: must contain ${part}`);
  }
  if (endpoint.url !== undefined && !/^https?:\/\/[^/]+\/?$/.test(endpoint.url)) {
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

/** The server is that of the engine, whose section says where it is. */
function tinkerProblems(endpoint: EndpointRecipe, recipe: Recipe): string[] {
  const problems = NOT_OF_TINKER.filter((field) => endpoint[field] !== undefined).map(
    (field) => `collection.endpoint.${field}: must be absent where collection.endpoint.kind is "tinker"`,
  );
  if (engineOf(recipe).kind !== 'tinker')
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
