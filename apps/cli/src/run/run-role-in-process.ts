import { mkdirSync } from 'node:fs';
import {
  readCollectorConfig,
  readSinkConfig,
  readTrainerConfig,
  readValidatorConfig,
  runProcess,
  type Supervised,
} from '@retrace/process';
import { CliError } from '../cli-error.js';
import { installation } from '../installation.js';
import { requireLearning } from './require-learning.js';
import { printLinesAsJson } from '../supervisor/print-lines-as-json.js';
import { commandEnvironment } from '../data-directory/environment.js';
import { readServices, type Services } from '../services/services.js';

/** Each role that can run in the process of the command line, on shared services. */
const ROLES = {
  api: async (environment: NodeJS.ProcessEnv, supervised: Supervised) => {
    const { readApiConfig, runApi } = await import('@retrace/api');
    await runApi(readApiConfig(environment), supervised);
  },
  sink: async (environment: NodeJS.ProcessEnv, supervised: Supervised) => {
    const { runSink } = await import('@retrace/sink');
    await runSink(readSinkConfig(environment), supervised);
  },
  collector: async (environment: NodeJS.ProcessEnv, supervised: Supervised) => {
    const { runCollector } = await import('@retrace/collector');
    await runCollector(readCollectorConfig(environment), supervised, environment);
  },
  validator: async (environment: NodeJS.ProcessEnv, supervised: Supervised) => {
    const { runValidator } = await import('@retrace/collector');
    await runValidator(readValidatorConfig(environment), supervised);
  },
  trainer: async (environment: NodeJS.ProcessEnv, supervised: Supervised) => {
    const { runTrainer } = await import('@retrace/trainer');
    const run = await runTrainer(readTrainerConfig(environment), supervised, environment);
    if (run.ended !== null) requireLearning(run);
  },
};

interface RoleInProcessOptions {
  readonly variables: NodeJS.ProcessEnv;
  /** Whether to print the log as JSON lines. */
  readonly json: boolean;
  /** The first line of the log. */
  readonly announcement?: string;
  /** Work beside the role, which must not reject; the signal aborts once the role has ended, and the process ends after both. */
  readonly beside?: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Reads the services for a command that works only on shared ones.
 *
 * @throws CliError `SERVICES_MISSING` when the environment names none
 */
export function requireServices(command: string, dataDir: string): Services {
  const services = readServices(dataDir);
  if (services !== null) return services;
  throw new CliError(
    'SERVICES_MISSING',
    `${command}: needs Kafka and ClickHouse; set RETRACE_KAFKA_BROKERS and RETRACE_STORE_URL`,
  );
}

/** The variable of `--accept-other-log`; without the flag the environment's own stands. */
export function acceptsOtherLog(flag: true | undefined): NodeJS.ProcessEnv {
  return flag === true ? { RETRACE_ACCEPT_OTHER_LOG: 'on' } : {};
}

/**
 * Runs a role in this process, which ends with it. Settings that the environment leaves out default to directories under the data
 * directory and to the paths of this installation.
 */
export async function runRoleInProcess(
  role: keyof typeof ROLES,
  { directory }: Services,
  { variables, json, announcement, beside }: RoleInProcessOptions,
): Promise<void> {
  if (json) printLinesAsJson(role);
  if (announcement !== undefined) console.log(announcement);
  const { checkpoints, tokenizers } = directory;
  for (const path of [checkpoints, tokenizers]) mkdirSync(path, { recursive: true });
  const { user, password, readonlyUser, readonlyPassword } = directory.credentials();
  const environment: NodeJS.ProcessEnv = {
    RETRACE_SPOOL_DIRECTORY: directory.spool,
    RETRACE_MIGRATIONS_DIRECTORY: installation.migrations,
    RETRACE_QUESTIONS_SCRIPT: installation.program('questions'),
    RETRACE_DASHBOARD_DIRECTORY: installation.dashboard,
    RETRACE_DOCUMENTATION_DIRECTORY: installation.documentation,
    RETRACE_API_KEYS_DIRECTORY: directory.keys,
    RETRACE_TRACE_DIRECTORY: directory.traces,
    RETRACE_ALARM_DIRECTORY: directory.alarms,
    ...commandEnvironment,
    RETRACE_STORE_USER: user,
    RETRACE_STORE_PASSWORD: password,
    RETRACE_STORE_READONLY_USER: readonlyUser,
    RETRACE_STORE_READONLY_PASSWORD: readonlyPassword,
    RETRACE_CHECKPOINT_DIRECTORY: checkpoints,
    RETRACE_TOKENIZER_DIRECTORY: tokenizers,
    ...definedOnly(variables),
  };
  await runProcess(environment, async (supervised) => {
    const over = new AbortController();
    const others = beside?.(over.signal);
    try {
      await ROLES[role](environment, supervised);
    } finally {
      over.abort();
      await others;
    }
  });
}

function definedOnly(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}
