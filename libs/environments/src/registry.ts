import { nearNames } from '@retrace/algorithms/registry';
import type { EnvironmentSpec } from './environment.js';
import { EnvironmentError } from './errors.js';

const specs = new Map<string, EnvironmentSpec>();

/**
 * Registers an environment under its name and returns the spec.
 *
 * @throws EnvironmentError `DUPLICATE_ENVIRONMENT` when the name is taken; `INVALID_SPEC` when the name is not
 * kebab-case, `maxSteps` is not a positive integer, words repeat, an action word is missing from `words`,
 * agent names repeat or there is no agent called `random`.
 */
export function defineEnvironment(spec: EnvironmentSpec): EnvironmentSpec {
  if (specs.has(spec.name)) {
    throw new EnvironmentError('DUPLICATE_ENVIRONMENT', `environment '${spec.name}' is defined already`);
  }
  const fault = specFault(spec);
  if (fault !== null) {
    throw new EnvironmentError('INVALID_SPEC', `environment '${spec.name}': ${fault}`);
  }
  specs.set(spec.name, spec);
  return spec;
}

/** @throws EnvironmentError `UNKNOWN_ENVIRONMENT`, naming the nearest known names. */
export function getEnvironment(name: string): EnvironmentSpec {
  const spec = specs.get(name);
  if (spec !== undefined) return spec;
  const known = [...specs.keys()].sort();
  const near = nearNames(name, known);
  const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : `known: ${known.join(', ')}`;
  throw new EnvironmentError('UNKNOWN_ENVIRONMENT', `no environment is named '${name}'; ${hint}`);
}

/** All registered environments, by name. */
export function listEnvironments(): readonly EnvironmentSpec[] {
  return [...specs.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
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
