import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUrl,
  IsUUID,
  Min,
  validateSync,
} from 'class-validator';
import { ProcessError } from './process-error.js';
import { readLogConfig, type LogConfig } from './log-config.js';

const localUrl = { require_tld: false, require_protocol: true, protocols: ['http', 'https'] };

/** The compute backends by name, as `@retrace/policy` knows them. */
const backendNames = [
  'tensorflow-cuda',
  'tfjs-node-gpu',
  'tensorflow',
  'tfjs-node',
  'webgpu',
  'wasm',
  'cpu',
] as const;

/** What every role is told by its environment; `retrace up` sets it for its children. */
export class RoleConfig {
  /** From the variables that `readLogConfig` reads. */
  readonly log!: LogConfig;
  @IsUrl(localUrl) readonly storeUrl!: string;
  @IsString() @IsNotEmpty() readonly storeUser!: string;
  @IsString() readonly storePassword!: string;
  /** Cluster that the store's tables are spread over; without it one server. */
  @IsOptional() @IsString() readonly storeCluster?: string;
  @IsString() @IsNotEmpty() readonly checkpointDirectory!: string;
  @IsString() @IsNotEmpty() readonly tokenizerDirectory!: string;
  /** The run that a collector or trainer works for. */
  @IsOptional() @IsUUID() readonly runId?: string;
  @IsOptional()
  @IsIn(backendNames)
  readonly backend?: (typeof backendNames)[number];
  @IsOptional() @IsInt() readonly supervisorPid?: number;
  /** Where a collector keeps events while the log is away; without it they wait in memory. */
  @IsOptional() @IsString() @IsNotEmpty() readonly spoolDirectory?: string;
  /** Most bytes that one collector keeps there (default 1 GiB). */
  @IsOptional() @IsInt() @Min(0) readonly spoolMaxBytes?: number;
}

type RoleVariable = Exclude<keyof RoleConfig, 'log'>;

const variables: Readonly<Record<RoleVariable, string>> = {
  storeUrl: 'RETRACE_STORE_URL',
  storeUser: 'RETRACE_STORE_USER',
  storePassword: 'RETRACE_STORE_PASSWORD',
  storeCluster: 'RETRACE_STORE_CLUSTER',
  checkpointDirectory: 'RETRACE_CHECKPOINT_DIRECTORY',
  tokenizerDirectory: 'RETRACE_TOKENIZER_DIRECTORY',
  runId: 'RETRACE_RUN_ID',
  backend: 'RETRACE_BACKEND',
  supervisorPid: 'RETRACE_SUPERVISOR_PID',
  spoolDirectory: 'RETRACE_SPOOL_DIRECTORY',
  spoolMaxBytes: 'RETRACE_SPOOL_MAX_BYTES',
};

const numericVariables: ReadonlySet<RoleVariable> = new Set<RoleVariable>(['supervisorPid', 'spoolMaxBytes']);

/**
 * Parses the environment once, in main.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` naming the variable and the rule; a password's value is never printed.
 */
export function readRoleConfig(environment: NodeJS.ProcessEnv): RoleConfig {
  const plain: Partial<Record<RoleVariable, unknown>> = {};
  for (const key of Object.keys(variables) as RoleVariable[]) {
    const value = environment[variables[key]];
    if (value !== undefined && value !== '') plain[key] = numericVariables.has(key) ? Number(value) : value;
  }
  plain.storePassword ??= '';
  const config = plainToInstance(RoleConfig, plain);
  const { log, problem } = tryReadLogConfig(environment);
  const problems = validateSync(config, { whitelist: true }).flatMap((error) => {
    const variable = variables[error.property as RoleVariable];
    const shown = error.property === 'storePassword' ? '(hidden)' : JSON.stringify(error.value);
    return Object.values(error.constraints ?? {}).map((rule) => `${variable}: got ${shown}, ${rule}`);
  });
  if (problem !== null) problems.unshift(problem);
  if (problems.length > 0) throw new ProcessError('ENVIRONMENT_VARIABLE_INVALID', problems.join('; '));
  return Object.freeze(Object.assign(config, { log }));
}

/** The log, or what is wrong with its variables, so that one error names all that is wrong. */
function tryReadLogConfig(environment: NodeJS.ProcessEnv): { log: LogConfig | null; problem: string | null } {
  try {
    return { log: readLogConfig(environment), problem: null };
  } catch (error) {
    if (error instanceof ProcessError) return { log: null, problem: error.message };
    throw error;
  }
}

/** What the supervisor tells its children: their log is always the one in its data directory. */
export type SupervisedRoleConfig = RoleConfig & { readonly log: Extract<LogConfig, { kind: 'lmdb' }> };

/** The environment variables that hand `config` to a child process. */
export function roleEnvironment(config: SupervisedRoleConfig): Record<string, string> {
  const result: Record<string, string> = {
    RETRACE_LOG_DIRECTORY: config.log.path,
    ...(config.log.maxEventBytes !== undefined && {
      RETRACE_MAX_EVENT_BYTES: String(config.log.maxEventBytes),
    }),
    RETRACE_KAFKA_BROKERS: '',
  };
  for (const key of Object.keys(variables) as RoleVariable[]) {
    const value = config[key];
    if (value !== undefined) result[variables[key]] = String(value);
  }
  return result;
}
