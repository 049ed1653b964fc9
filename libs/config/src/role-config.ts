import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, IsUrl, IsUUID, validateSync } from 'class-validator';
import { ConfigError } from './config-error.js';

const localUrl = { require_tld: false, require_protocol: true, protocols: ['http', 'https'] };

/** The compute backends by name, as `@retrace/policy` knows them. */
const backendNames = ['tensorflow-cuda', 'tfjs-node-gpu', 'tensorflow', 'tfjs-node', 'wasm', 'cpu'] as const;

/** What every role is told by its environment; `retrace up` sets it for its children. */
export class RoleConfig {
  /** Directory of the embedded log (LMDB). */
  @IsString() @IsNotEmpty() readonly logDirectory!: string;
  @IsUrl(localUrl) readonly storeUrl!: string;
  @IsString() @IsNotEmpty() readonly storeUser!: string;
  @IsString() readonly storePassword!: string;
  @IsString() @IsNotEmpty() readonly checkpointDirectory!: string;
  @IsString() @IsNotEmpty() readonly tokenizerDirectory!: string;
  /** The run that a collector or trainer works for. */
  @IsOptional() @IsUUID() readonly runId?: string;
  @IsOptional()
  @IsIn(backendNames)
  readonly backend?: (typeof backendNames)[number];
  @IsOptional() @IsInt() readonly supervisorPid?: number;
}

const variables: Readonly<Record<keyof RoleConfig, string>> = {
  logDirectory: 'RETRACE_LOG_DIRECTORY',
  storeUrl: 'RETRACE_STORE_URL',
  storeUser: 'RETRACE_STORE_USER',
  storePassword: 'RETRACE_STORE_PASSWORD',
  checkpointDirectory: 'RETRACE_CHECKPOINT_DIRECTORY',
  tokenizerDirectory: 'RETRACE_TOKENIZER_DIRECTORY',
  runId: 'RETRACE_RUN_ID',
  backend: 'RETRACE_BACKEND',
  supervisorPid: 'RETRACE_SUPERVISOR_PID',
};

/**
 * Parses the environment once, in main.
 *
 * @throws ConfigError `ENVIRONMENT_VARIABLE_INVALID` naming the variable and the rule; a password's value is never printed.
 */
export function readRoleConfig(environment: NodeJS.ProcessEnv): RoleConfig {
  const plain: Partial<Record<keyof RoleConfig, unknown>> = {};
  for (const key of Object.keys(variables) as (keyof RoleConfig)[]) {
    const value = environment[variables[key]];
    if (value !== undefined && value !== '') plain[key] = key === 'supervisorPid' ? Number(value) : value;
  }
  plain.storePassword ??= '';
  const config = plainToInstance(RoleConfig, plain);
  const problems = validateSync(config, { whitelist: true }).flatMap((error) => {
    const variable = variables[error.property as keyof RoleConfig];
    const shown = error.property === 'storePassword' ? '(hidden)' : JSON.stringify(error.value);
    return Object.values(error.constraints ?? {}).map((rule) => `${variable}: got ${shown}, ${rule}`);
  });
  if (problems.length > 0) throw new ConfigError('ENVIRONMENT_VARIABLE_INVALID', problems.join('; '));
  return Object.freeze(config);
}

/** The environment variables that hand `config` to a child process. */
export function roleEnvironment(config: RoleConfig): Record<string, string> {
  const result: Record<string, string> = {};
  for (const key of Object.keys(variables) as (keyof RoleConfig)[]) {
    const value = config[key];
    if (value !== undefined) result[variables[key]] = String(value);
  }
  return result;
}
