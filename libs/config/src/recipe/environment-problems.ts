import { getEnvironment, listEnvironments, type EnvironmentSpec } from '@retrace/environments';
import { getAdvantageEstimator, listAdvantageEstimators } from '@retrace/algorithms';
import { ConfigError } from '../config-error.js';
import type { EnvironmentRecipe, EnvironmentServerRecipe } from './environment-recipe.js';
import type { Recipe } from './recipe.js';
import { showValue } from './show-value.js';

/** Facts about an environment that a recipe must fit. */
export type EnvironmentFacts = Pick<EnvironmentSpec, 'name' | 'words' | 'offersAnchors' | 'agents'>;

/** Checks that the environment is known and fits the recipe, as far as that can be told without loading or starting anything. */
export function environmentProblems(recipe: Recipe): string[] {
  const { environment, context } = recipe;
  if (typeof environment !== 'string') {
    const problems = sourceProblems(environment);
    if (environment.server && context.tokenizer === 'word') {
      problems.push(
        'context.tokenizer: got "word", must be model (with policy.model) or byte where environment.server is used: such environments have no fixed vocabulary',
      );
    }
    if (environment.server) problems.push(...serverAnchorProblems(environment.server, recipe));
    if (environment.server && recipe.imitation) {
      problems.push('imitation: must be null where environment.server is used, which has no expert');
    }
    return problems;
  }
  try {
    return fitProblems(recipe, getEnvironment(environment));
  } catch (error) {
    return [`environment: ${(error as Error).message}`];
  }
}

/**
 * Checks that a loaded environment fits the recipe.
 *
 * @throws ConfigError `RECIPE_INVALID` naming every field that does not fit
 */
export function requireFit(recipe: Recipe, facts: EnvironmentFacts): void {
  const problems = fitProblems(recipe, facts);
  if (problems.length > 0) throw new ConfigError('RECIPE_INVALID', `Invalid recipe: ${problems.join('; ')}`);
}

function fitProblems(recipe: Recipe, facts: EnvironmentFacts): string[] {
  const { imitation, context } = recipe;
  const problems: string[] = [];
  const names = facts.agents.map(({ name }) => name);
  if (imitation && !names.includes(imitation.agent)) {
    problems.push(
      `imitation.agent: got "${imitation.agent}", must be a scripted agent of ${facts.name}: ${names.join(', ')}`,
    );
  }
  if (context.tokenizer === 'word' && facts.words === null) {
    problems.push(
      `context.tokenizer: got "word", must be model (with policy.model) or byte: ${facts.name} has no fixed vocabulary`,
    );
  }
  return [...problems, ...anchorProblems(recipe, facts)];
}

/** Checks that estimators which compare steps by their states have an environment that identifies those. */
function anchorProblems(
  { environment, advantage: { estimator } }: Recipe,
  facts: EnvironmentFacts,
): string[] {
  if (facts.offersAnchors || !readsAnchors(estimator)) return [];
  if (typeof environment !== 'string' && environment.server) return [serverAnchorProblem(estimator)];
  const others = listEnvironments().filter(({ offersAnchors }) => offersAnchors);
  return [
    `environment: got "${facts.name}", must be one that offers anchors (${others.map(({ name }) => name).join(', ')}) with ` +
      `advantage.estimator ${estimator}: it compares steps in the same state`,
  ];
}

/** Servers of AgentGym and OpenEnv never say what identifies a state; one of Retrace's own protocol tells when it is asked (`requireFit`). */
function serverAnchorProblems(
  { protocol, anchor }: EnvironmentServerRecipe,
  { advantage: { estimator } }: Recipe,
): string[] {
  if (protocol === 'retrace' || anchor === 'observation' || !readsAnchors(estimator)) return [];
  return [serverAnchorProblem(estimator)];
}

function serverAnchorProblem(estimator: string): string {
  return (
    `environment.server.anchor: got "environment", must be "observation" with advantage.estimator ${estimator}: it compares steps in the same ` +
    'state, and this server does not identify states'
  );
}

/** Whether only the servers themselves can tell if they identify the states that the recipe's estimator compares. */
export function asksServerForAnchors({ environment, advantage }: Recipe): boolean {
  if (typeof environment === 'string' || !environment.server) return false;
  const { protocol, anchor } = environment.server;
  return protocol === 'retrace' && anchor !== 'observation' && readsAnchors(advantage.estimator);
}

/** Whether an advantage estimator compares steps by the anchors of their states. */
export function readsAnchors(estimator: string): boolean {
  return (
    listAdvantageEstimators().includes(estimator) &&
    getAdvantageEstimator(estimator).requires.includes('anchors')
  );
}

function sourceProblems({ name, module, server }: EnvironmentRecipe): string[] {
  if ((module === undefined) === (server === undefined || server === null)) {
    return ['environment: must have either module or server'];
  }
  if (!server) return [];
  const missing = name === undefined ? ['"environment.name" is required with environment.server'] : [];
  return [...missing, ...serverProblems(server)];
}

function serverProblems(server: EnvironmentServerRecipe): string[] {
  const { protocol, family, urls, command, firstPort, numServers = 1 } = server;
  const problems: string[] = [];
  if ((urls === undefined) === (command === undefined)) {
    problems.push('environment.server: must have either urls or command');
  }
  const badUrl = urls?.find((url) => !/^https?:\/\//.test(url) || !URL.canParse(url));
  if (badUrl !== undefined) {
    problems.push(`environment.server.urls: got ${showValue(badUrl)}, must be an address with http or https`);
  }
  if (protocol === 'agentgym' && family === undefined)
    problems.push('"environment.server.family" is required with environment.server.protocol "agentgym"');
  if (firstPort !== undefined && firstPort + numServers - 1 > 65_535) {
    problems.push(
      `environment.server.firstPort: got ${firstPort}, with ${numServers} servers the last port exceeds 65535`,
    );
  }
  return problems;
}
