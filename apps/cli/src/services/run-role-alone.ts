import { mkdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { CliError } from '../cli-error.js';
import { installation } from '../installation.js';
import { printLinesAsJson } from '../terminal/print-lines-as-json.js';
import { readServices, type Services } from './services.js';

export interface RoleAloneOptions {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Whether its log is JSON lines. */
  readonly json: boolean;
  /** The first line of its log. */
  readonly announcement?: string;
}

/**
 * The services that a role works on when it is started alone.
 *
 * @throws CliError `SERVICES_MISSING` when the environment names none
 */
export function requireServices(command: string, dataDir: string): Services {
  const services = readServices(process.env, dataDir);
  if (services !== null) return services;
  throw new CliError(
    'SERVICES_MISSING',
    `${command}: needs Kafka and ClickHouse; set RETRACE_KAFKA_BROKERS and RETRACE_STORE_URL`,
  );
}

/**
 * Runs a role's main in this process, which ends with it. What the environment leaves out is filled in: directories under the data
 * directory, and the parts of this installation.
 */
export async function runRoleAlone(
  role: 'sink' | 'api' | 'collector' | 'trainer',
  { directory }: Services,
  { variables, json, announcement }: RoleAloneOptions,
): Promise<void> {
  if (json) printLinesAsJson(role);
  if (announcement !== undefined) console.log(announcement);
  const { checkpoints, tokenizers } = directory;
  for (const path of [checkpoints, tokenizers]) mkdirSync(path, { recursive: true });
  const { user, password, readonlyUser, readonlyPassword } = directory.credentials();
  const environment: Record<string, string | undefined> = {
    RETRACE_STORE_USER: user,
    RETRACE_STORE_PASSWORD: password,
    RETRACE_STORE_READONLY_USER: readonlyUser,
    RETRACE_STORE_READONLY_PASSWORD: readonlyPassword,
    RETRACE_CHECKPOINT_DIRECTORY: checkpoints,
    RETRACE_TOKENIZER_DIRECTORY: tokenizers,
    RETRACE_SPOOL_DIRECTORY: process.env.RETRACE_SPOOL_DIRECTORY ?? directory.spool,
    RETRACE_MIGRATIONS_DIRECTORY: process.env.RETRACE_MIGRATIONS_DIRECTORY ?? installation.migrations,
    RETRACE_DASHBOARD_DIRECTORY: process.env.RETRACE_DASHBOARD_DIRECTORY ?? installation.dashboard,
    ...variables,
  };
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) process.env[name] = value;
  await import(pathToFileURL(installation.scripts[role]).href);
}
