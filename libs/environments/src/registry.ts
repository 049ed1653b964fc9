import { NamedRegistry } from '@retrace/algorithms/registry';
import type { EnvironmentSpec } from './environment.js';
import { EnvironmentError } from './errors.js';

const specs = new NamedRegistry<EnvironmentSpec>(
  'environment',
  (code, message) =>
    new EnvironmentError(code === 'UNKNOWN_NAME' ? 'UNKNOWN_ENVIRONMENT' : 'DUPLICATE_ENVIRONMENT', message),
);

/**
 * Registers an environment under its name and returns the spec.
 *
 * @throws EnvironmentError `DUPLICATE_ENVIRONMENT` when the name is taken; `INVALID_SPEC` when the name is not
 * kebab-case, `maxSteps` is not a positive integer, words repeat, an action word is missing from `words`,
 * agent names repeat or there is no agent called `random`.
 */
export function defineEnvironment(spec: EnvironmentSpec): EnvironmentSpec {
  const fault = specFault(spec);
  if (fault !== null) {
    throw new EnvironmentError('INVALID_SPEC', `environment '${spec.name}': ${fault}`);
  }
  return specs.define(spec);
}

/** @throws EnvironmentError `UNKNOWN_ENVIRONMENT`, naming the nearest known names */
export function getEnvironment(name: string): EnvironmentSpec {
  return specs.get(name);
}

/** All registered environments, by name. */
export function listEnvironments(): readonly EnvironmentSpec[] {
  return specs.names().map(getEnvironment);
}

function specFault(spec: EnvironmentSpec): string | null {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(spec.name)) return 'its name must be kebab-case';
  if (!Number.isInteger(spec.maxSteps) || spec.maxSteps < 1) {
    return `maxSteps is ${spec.maxSteps}, must be a positive integer`;
  }
  const words = new Set(spec.words);
  if (words.size !== spec.words.length) return 'words must not repeat';
  const badWord = spec.words.find((word) => word === '' || /\s/.test(word));
  if (badWord !== undefined) return `word '${badWord}' must be non-empty and without whitespace`;
  const unknownAction = spec.actionWords?.find((word) => !words.has(word));
  if (unknownAction !== undefined) return `action word '${unknownAction}' is not among words`;
  const agentNames = new Set(spec.agents.map((agent) => agent.name));
  if (agentNames.size !== spec.agents.length) return 'agent names must not repeat';
  if (!agentNames.has('random')) return `an agent named 'random' is required`;
  return null;
}
