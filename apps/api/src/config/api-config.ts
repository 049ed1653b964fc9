import 'reflect-metadata';
import { resolve } from 'node:path';
import { plainToInstance, Transform } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUrl,
  Max,
  Min,
  validateSync,
} from 'class-validator';
import { ProcessError, readLogConfig, type LogConfig } from '@retrace/process';
import { describeViolations } from '../http/violations.js';

/** The environment variables of the API process, as they are written. */
class ApiEnvironment {
  /** Address of the store, `http://host:port`. */
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'] })
  RETRACE_STORE_URL!: string;

  @IsString()
  @IsNotEmpty()
  RETRACE_STORE_USER!: string;

  @IsString()
  RETRACE_STORE_PASSWORD!: string;

  /** Cluster that the store's tables are spread over; without it one server. */
  @IsOptional()
  @IsString()
  RETRACE_STORE_CLUSTER?: string;

  /** User that runs what people type into the SQL page: read-only, with limits. */
  @IsString()
  @IsNotEmpty()
  RETRACE_STORE_READONLY_USER!: string;

  @IsString()
  RETRACE_STORE_READONLY_PASSWORD!: string;

  @IsString()
  @IsNotEmpty()
  RETRACE_API_HOST = '127.0.0.1';

  /** 0 = any free port. */
  @Transform(({ value }) => Number(value))
  @IsInt()
  @Min(0)
  @Max(65_535)
  RETRACE_API_PORT = 8787;

  /** Host names beside the loopback ones under which the API may be asked, separated by commas. */
  @IsOptional()
  @IsString()
  RETRACE_API_ALLOWED_HOSTS?: string;

  /** Built dashboard; without it the API serves no pages. */
  @IsOptional()
  @IsString()
  RETRACE_DASHBOARD_DIRECTORY?: string;

  @IsString()
  @IsNotEmpty()
  RETRACE_MIGRATIONS_DIRECTORY!: string;

  /** Directory of `<tokenizer hash>.json` files; without it tokens are shown by their ids. */
  @IsOptional()
  @IsString()
  RETRACE_TOKENIZER_DIRECTORY?: string;

  /** `off` where the sink is a process of its own. */
  @IsIn(['on', 'off'])
  RETRACE_SINK: 'on' | 'off' = 'on';
}

/** What the API is started with. */
export class ApiConfig {
  readonly log!: LogConfig;
  readonly store!: {
    readonly url: string;
    readonly username: string;
    readonly password: string;
    readonly cluster: string | null;
    readonly readonlyUsername: string;
    readonly readonlyPassword: string;
  };
  readonly host!: string;
  readonly port!: number;
  readonly allowedHosts!: readonly string[];
  readonly dashboardDirectory!: string | null;
  readonly migrationsDirectory!: string;
  readonly tokenizerDirectory!: string | null;
  readonly runsSink!: boolean;
}

/**
 * Reads the API's configuration from environment variables, once.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` naming every variable that is wrong, its value and the rule; a password's
 *   value is never printed
 */
export function readApiConfig(environment: NodeJS.ProcessEnv): ApiConfig {
  const known = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => name.startsWith('RETRACE_') && value !== ''),
  );
  const variables = plainToInstance(ApiEnvironment, known, { exposeDefaultValues: true });
  const violations = describeViolations(validateSync(variables));
  if (violations.length > 0) {
    const sentences = violations.map(
      ({ field, value, rule }) => `${field}: got ${shown(field, value)}, ${rule}`,
    );
    throw new ProcessError('ENVIRONMENT_VARIABLE_INVALID', sentences.join('; '));
  }
  const directory = (path: string | undefined): string | null => (path ? resolve(path) : null);
  return Object.assign(new ApiConfig(), {
    log: readLogConfig(environment),
    store: {
      url: variables.RETRACE_STORE_URL,
      username: variables.RETRACE_STORE_USER,
      password: variables.RETRACE_STORE_PASSWORD,
      cluster: variables.RETRACE_STORE_CLUSTER ?? null,
      readonlyUsername: variables.RETRACE_STORE_READONLY_USER,
      readonlyPassword: variables.RETRACE_STORE_READONLY_PASSWORD,
    },
    host: variables.RETRACE_API_HOST,
    port: variables.RETRACE_API_PORT,
    allowedHosts: splitList(variables.RETRACE_API_ALLOWED_HOSTS),
    dashboardDirectory: directory(variables.RETRACE_DASHBOARD_DIRECTORY),
    migrationsDirectory: resolve(variables.RETRACE_MIGRATIONS_DIRECTORY),
    tokenizerDirectory: directory(variables.RETRACE_TOKENIZER_DIRECTORY),
    runsSink: variables.RETRACE_SINK === 'on',
  });
}

function shown(variable: string, value: unknown): string {
  return variable.endsWith('_PASSWORD') ? '(hidden)' : (JSON.stringify(value) ?? 'nothing');
}

function splitList(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
