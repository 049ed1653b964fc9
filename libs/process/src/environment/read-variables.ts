import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { ProcessError } from '../process-error.js';
import type { Environment } from './environment.js';
import { LOG_VARIABLES, requiredLogVariables } from './log-variables.js';
import { EnvironmentVariables, type VariableName } from './variables.js';

/** Every variable with this prefix must be one that is known: a misspelled one would silently leave a cluster unsecured. */
const CHECKED_PREFIX = 'RETRACE_KAFKA_';

/** Settings read by `readVariables`: those that are required are there. */
export type Variables<Required extends VariableName> = Readonly<
  EnvironmentVariables & { [name in Required]-?: NonNullable<EnvironmentVariables[name]> }
>;

export interface VariablesToRead<Required extends VariableName> {
  /** Variables that are read where they are set. */
  readonly reads?: readonly VariableName[];
  /** Variables that must be set. */
  readonly requires?: readonly Required[];
  /** Whether the process opens the event log: its variables are read, those that it needs are required, and unknown ones refused. */
  readonly opensLog?: boolean;
}

/**
 * Parses the variables that a process reads, all at once. A variable that the process does not read may have any value.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` naming every variable that is missing, unknown or wrong, with its value and the
 *   rule; the value of a password is never printed
 */
export function readVariables<Required extends VariableName = never>(
  environment: Environment,
  { reads = [], requires = [], opensLog = false }: VariablesToRead<Required>,
): Variables<Required> {
  const required: VariableName[] = [...requires, ...(opensLog ? requiredLogVariables(environment) : [])];
  const names = new Set<string>([...reads, ...required, ...(opensLog ? LOG_VARIABLES : [])]);
  const given = Object.entries(environment).filter(
    ([name, value]) =>
      value !== undefined &&
      value !== '' &&
      (names.has(name) || (opensLog && name.startsWith(CHECKED_PREFIX))),
  );
  const variables = plainToInstance(EnvironmentVariables, Object.fromEntries(given));
  const problems = [
    ...required
      .filter((name) => variables[name] === undefined)
      .map((name) => `${name}: required, but not set`),
    ...validateSync(variables, { whitelist: true, forbidNonWhitelisted: true }).map((error) =>
      describe(error, environment[error.property]),
    ),
  ].sort();
  if (problems.length > 0) throw new ProcessError('ENVIRONMENT_VARIABLE_INVALID', problems.join('; '));
  return variables as Variables<Required>;
}

function describe({ property: name, constraints = {} }: ValidationError, value: string | undefined): string {
  if ('whitelistValidation' in constraints) return `${name}: unknown variable`;
  const shown = name.endsWith('_PASSWORD') ? '(hidden)' : JSON.stringify(value);
  const rules = new Set(Object.values(constraints).map((rule) => rule.replace(`${name} `, '')));
  return `${name}: got ${shown}, ${[...rules].join(' and ')}`;
}
