import { resolve } from 'node:path';
import type { LogLocation } from '@retrace/log';
import { readAllowedHosts } from '@retrace/page-guard';
import {
  readLogLocation,
  OPTIONAL_STORE_VARIABLES,
  readVariables,
  STORE_VARIABLES,
  readStoreAccess,
  type StoreAccess,
} from '@retrace/process';

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8787;
/** Requests a second. One key may be that of many clients which send steps one by one. */
const DEFAULT_RATE_LIMIT = 10_000;
const DEFAULT_TRACE_IDLE_SECONDS = 300;
const DEFAULT_RETENTION_SECONDS = 3_600;

const OPTIONAL_VARIABLES = [
  ...OPTIONAL_STORE_VARIABLES,
  'RETRACE_STORE_READONLY_PASSWORD',
  'RETRACE_API_HOST',
  'RETRACE_API_PORT',
  'RETRACE_API_ALLOWED_HOSTS',
  'RETRACE_API_KEYS_DIRECTORY',
  'RETRACE_API_FIRST_KEY_FILE',
  'RETRACE_AGENTS_KEY',
  'RETRACE_API_RATE_LIMIT',
  'RETRACE_REDACTION_RULES',
  'RETRACE_ALARM_WEBHOOK',
  'RETRACE_ALERTMANAGER_URL',
  'RETRACE_ALARM_DIRECTORY',
  'RETRACE_PAGE_URL',
  'RETRACE_TRACE_DIRECTORY',
  'RETRACE_TRACE_IDLE_SECONDS',
  'RETRACE_RETENTION_SECONDS',
  'RETRACE_QUESTIONS_SCRIPT',
  'RETRACE_CHECKPOINT_DIRECTORY',
  'RETRACE_RUN_CONTROL',
  'RETRACE_DASHBOARD_DIRECTORY',
  'RETRACE_DOCUMENTATION_DIRECTORY',
  'RETRACE_TOKENIZER_DIRECTORY',
  'RETRACE_SINK',
  'RETRACE_ACCEPT_OTHER_LOG',
] as const;

/** Typed configuration of the API. */
export class ApiConfig {
  readonly log!: LogLocation;
  readonly store!: StoreAccess & {
    /** User of the SQL that people type: read-only, with limits. */
    readonly readonlyUsername: string;
    readonly readonlyPassword: string;
  };
  readonly host!: string;
  readonly port!: number;
  readonly allowedHosts!: readonly string[];
  /** Directory of the API keys; null where there are none. */
  readonly keyDirectory!: string | null;
  /** Where a key is written that is made because one is needed and there is none; null: none is made. */
  readonly firstKeyFile!: string | null;
  /** Key that only this API and the proxy for agents beside it have; null where no supervisor made one. */
  readonly agentsKey!: string | null;
  /** Requests a second of one key, or of one address where no key is needed; 0 for no limit. */
  readonly rateLimit!: number;
  /** File of rules that hide what may not be stored of records; null: nothing is hidden. */
  readonly redactionRules!: string | null;
  /** Where alarms are sent. */
  readonly alarms!: {
    readonly webhookUrl: string | null;
    readonly alertmanagerUrl: string | null;
    /** Keeps which were sent; null: it is not kept. */
    readonly directory: string | null;
    /** Address of the pages, for links; null: there are none. */
    readonly pageUrl: string | null;
  };
  /** Directory of traces that are still open; null: spans are not taken. */
  readonly traceDirectory!: string | null;
  /** Time without a new span after which a trace without ended root counts as complete. */
  readonly traceIdleMs!: number;
  /** Time between deletions of the episodes that runs no longer keep. */
  readonly retentionIntervalMs!: number;
  /** How the process is started that replays an update or computes a what-if; null: neither is done. */
  readonly questionProcess!: { readonly script: string; readonly environment: NodeJS.ProcessEnv } | null;
  /** Whether the supervisor of this process starts and stops runs. */
  readonly hasRunControl!: boolean;
  readonly dashboardDirectory!: string | null;
  /** Of the built documentation; null: none is served. */
  readonly documentationDirectory!: string | null;
  readonly migrationsDirectory!: string;
  readonly tokenizerDirectory!: string | null;
  readonly runsSink!: boolean;
  /** Whether the store may have events of another log than this one. */
  readonly acceptsOtherLog!: boolean;
}

/**
 * Reads the API's configuration from environment variables, once.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` naming every variable that is wrong, its value and the rule; a password's
 *   value is never printed
 */
export function readApiConfig(environment: NodeJS.ProcessEnv): ApiConfig {
  const variables = readVariables(environment, {
    opensLog: true,
    reads: OPTIONAL_VARIABLES,
    requires: [...STORE_VARIABLES, 'RETRACE_STORE_READONLY_USER', 'RETRACE_MIGRATIONS_DIRECTORY'],
  });
  const pathOf = (path: string | undefined): string | null => (path ? resolve(path) : null);
  return Object.assign(new ApiConfig(), {
    log: readLogLocation(variables),
    store: {
      ...readStoreAccess(variables),
      readonlyUsername: variables.RETRACE_STORE_READONLY_USER,
      readonlyPassword: variables.RETRACE_STORE_READONLY_PASSWORD ?? '',
    },
    host: variables.RETRACE_API_HOST ?? DEFAULT_HOST,
    port: variables.RETRACE_API_PORT ?? DEFAULT_PORT,
    allowedHosts: readAllowedHosts(variables.RETRACE_API_ALLOWED_HOSTS ?? ''),
    keyDirectory: pathOf(variables.RETRACE_API_KEYS_DIRECTORY),
    firstKeyFile: pathOf(variables.RETRACE_API_FIRST_KEY_FILE),
    agentsKey: variables.RETRACE_AGENTS_KEY ?? null,
    rateLimit: variables.RETRACE_API_RATE_LIMIT ?? DEFAULT_RATE_LIMIT,
    redactionRules: pathOf(variables.RETRACE_REDACTION_RULES),
    alarms: {
      webhookUrl: variables.RETRACE_ALARM_WEBHOOK ?? null,
      alertmanagerUrl: variables.RETRACE_ALERTMANAGER_URL ?? null,
      directory: pathOf(variables.RETRACE_ALARM_DIRECTORY),
      pageUrl: variables.RETRACE_PAGE_URL ?? null,
    },
    traceDirectory: pathOf(variables.RETRACE_TRACE_DIRECTORY),
    traceIdleMs: (variables.RETRACE_TRACE_IDLE_SECONDS ?? DEFAULT_TRACE_IDLE_SECONDS) * 1000,
    retentionIntervalMs: (variables.RETRACE_RETENTION_SECONDS ?? DEFAULT_RETENTION_SECONDS) * 1000,
    questionProcess:
      variables.RETRACE_QUESTIONS_SCRIPT && variables.RETRACE_CHECKPOINT_DIRECTORY
        ? {
            script: resolve(variables.RETRACE_QUESTIONS_SCRIPT),
            environment: { ...process.env, ...environment },
          }
        : null,
    hasRunControl: variables.RETRACE_RUN_CONTROL === 'on',
    dashboardDirectory: pathOf(variables.RETRACE_DASHBOARD_DIRECTORY),
    documentationDirectory: pathOf(variables.RETRACE_DOCUMENTATION_DIRECTORY),
    migrationsDirectory: resolve(variables.RETRACE_MIGRATIONS_DIRECTORY),
    tokenizerDirectory: pathOf(variables.RETRACE_TOKENIZER_DIRECTORY),
    runsSink: variables.RETRACE_SINK !== 'off',
    acceptsOtherLog: variables.RETRACE_ACCEPT_OTHER_LOG === 'on',
  });
}
