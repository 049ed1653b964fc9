import { plainToInstance, validateSync, type ValidationError } from '@retrace/validation';
import { ProcessError } from '../process-error.js';
import { EnvironmentVariables, type VariableName } from './variables.js';

/** A process that opens the log refuses an unknown variable with this prefix: a misspelled one could leave a cluster unsecured. */
const CHECKED_PREFIX = 'RETRACE_KAFKA_';

/** Parsed variables, of which the required ones are set. */
export type Variables<Required extends VariableName> = Readonly<
  EnvironmentVariables & { [name in Required]-?: NonNullable<EnvironmentVariables[name]> }
>;

interface VariablesToRead<Required extends VariableName> {
  /** Variables that may be set. */
  readonly reads?: readonly VariableName[];
  /** Variables that must be set. */
  readonly requires?: readonly Required[];
  /** Whether to read the variables of the event log, too, and to require those without which it can't be opened. */
  readonly opensLog?: boolean;
}

/**
 * Parses the variables that a process reads, all at once. Any other variable may have any value.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` naming every variable that is missing, unknown or wrong, with its value and the
 *   rule; the value of a secret is never printed
 */
export function readVariables<Required extends VariableName = never>(
  environment: NodeJS.ProcessEnv,
  { reads = [], requires = [], opensLog = false }: VariablesToRead<Required>,
): Variables<Required> {
  const required: VariableName[] = [...requires, ...(opensLog ? requiredLogVariables(environment) : [])];
  const names = new Set<string>([...reads, ...required, ...(opensLog ? ['RETRACE_MAX_EVENT_BYTES'] : [])]);
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

/** Whether the environment names a log on Kafka. */
export function namesKafka(environment: NodeJS.ProcessEnv): boolean {
  return (environment.RETRACE_KAFKA_BROKERS ?? '') !== '';
}

function requiredLogVariables(environment: NodeJS.ProcessEnv): VariableName[] {
  if (!namesKafka(environment)) return ['RETRACE_LOG_DIRECTORY'];
  const usesSasl = (environment.RETRACE_KAFKA_SASL_MECHANISM ?? '') !== '';
  return usesSasl ? ['RETRACE_KAFKA_USERNAME', 'RETRACE_KAFKA_PASSWORD'] : [];
}

/** Variables whose values are not shown: passwords, keys, and addresses that let everybody write to a channel. */
const SECRET = /_(PASSWORD|WEBHOOK|KEY)$/;

function describe({ property: name, constraints = {} }: ValidationError, value: string | undefined): string {
  if ('whitelistValidation' in constraints) return `${name}: unknown variable`;
  const shown = SECRET.test(name) ? '(hidden)' : JSON.stringify(value);
  const rules = new Set(Object.values(constraints).map((rule) => rule.replace(`${name} `, '')));
  return `${name}: got ${shown}, ${[...rules].join(' and ')}`;
}
