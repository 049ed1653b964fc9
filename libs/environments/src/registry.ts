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

/** Says which rule a spec breaks, which in a user's file may be anything; null for none. */
export function specFault(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return `it is ${typeof value}, must be an object`;
  const spec = value as EnvironmentSpec;
  const wrongType = FIELD_TYPES.find(([field, type]) => typeof spec[field] !== type);
  if (wrongType) return `${wrongType[0]} is ${typeof spec[wrongType[0]]}, must be a ${wrongType[1]}`;
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(spec.name)) return `name is '${spec.name}', must be kebab-case`;
  if (!Number.isInteger(spec.maxSteps) || spec.maxSteps < 1) {
    return `maxSteps is ${spec.maxSteps}, must be a positive integer`;
  }
  return wordsFault(spec) ?? agentsFault(spec);
}

const FIELD_TYPES = [
  ['name', 'string'],
  ['description', 'string'],
  ['maxSteps', 'number'],
  ['offersAnchors', 'boolean'],
  ['splitsAreDisjoint', 'boolean'],
  ['create', 'function'],
  ['sampleTask', 'function'],
] as const satisfies readonly (readonly [keyof EnvironmentSpec, string])[];

function wordsFault({ words: listed, actionWords }: EnvironmentSpec): string | null {
  if (listed === null) return actionWords === null ? null : 'actionWords must be null where words is';
  if (!Array.isArray(listed))
    return `words is ${typeof listed}, must be a list, or null without a fixed vocabulary`;
  const words = new Set<string>(listed);
  if (words.size !== listed.length) return 'words must not repeat';
  const badWord = (listed as string[]).find((word) => word === '' || /\s/.test(word));
  if (badWord !== undefined) return `word '${badWord}' must be non-empty and without whitespace`;
  if (actionWords !== null && !Array.isArray(actionWords)) return 'actionWords must be a list or null';
  const unknownAction = actionWords?.find((word) => !words.has(word));
  if (unknownAction !== undefined) return `action word '${unknownAction}' is not among words`;
  return null;
}

function agentsFault({ agents }: EnvironmentSpec): string | null {
  if (!Array.isArray(agents)) return `agents is ${typeof agents}, must be a list`;
  const names = new Set((agents as EnvironmentSpec['agents']).map((agent) => agent.name));
  if (names.size !== agents.length) return 'agent names must not repeat';
  if (!names.has('random')) return `an agent named 'random' is required`;
  return null;
}
