import type { EngineRecipe } from '@retrace/config';
import type { Share } from '@retrace/log';
import {
  checkpointStorageVariables,
  roleEnvironment,
  type DataDirectory,
  type BackendChoice,
} from '@retrace/process';
import { checkpointStorageFor, locateKeys, locateLog } from '../data-directory/environment.js';
import { installation } from '../installation.js';
import type { RoleDefinition } from '../supervisor/role.js';
import type { ReadyMessage } from '../supervisor/role-process.js';

/** The address that every role on a data directory listens on. */
export const LOOPBACK = '127.0.0.1';

/**
 * Flags of V8 for roles that handle events. They allocate in bursts, and most of a burst is garbage before the next one. A young
 * generation with room for a burst (64 MiB; V8's default is 16) makes collections rare and cheap. The old generation is small, tens
 * of MiB, so V8 would mark all of it about once per update. Growing to four times its size first saves a sixth of the CPU time of an
 * update.
 */
const GARBAGE_COLLECTION = collectingGarbage(64);

/** Those of API and sink, whose bursts are smaller. */
const GARBAGE_COLLECTION_OF_ROWS = collectingGarbage(32);

function collectingGarbage(youngMiB: number): readonly string[] {
  return [
    `--min-semi-space-size=${youngMiB}`,
    `--max-semi-space-size=${youngMiB}`,
    '--heap-growing-percent=300',
  ];
}

/** Steps of priority that validation is behind training, which waits for nobody. */
const BEHIND_TRAINING = 9;
/**
 * Steps of priority of a store that nobody looks at, and of its sink: they follow the log at their own pace, in the time that a run leaves. A run of
 * short updates on two cores takes a fifth less time.
 */
export const FOLLOWS_THE_LOG = 15;
const LOWEST_PRIORITY = 19;

/** Name of the process that is both. */
const COLOCATED = 'trainer+collector';

interface StoreRoleOptions {
  readonly port: number;
  /** Variables with which the store finds its engine. */
  readonly engine: Readonly<Record<string, string>>;
  /** Steps of priority (default 0). */
  readonly niceness?: number;
}

/**
 * Longest time for a role to become ready. A process that ends is noticed at once, so only one that hangs waits this long; beside much other work a trainer
 * was seen to take over two minutes.
 */
const READY_TIMEOUT_MS = 600_000;

/** Defines the embedded store: chDB behind ClickHouse's HTTP protocol. */
export function storeRole(
  directory: DataDirectory,
  { port, engine, niceness }: StoreRoleOptions,
): RoleDefinition {
  const { user, password, readonlyUser, readonlyPassword } = directory.credentials();
  return {
    name: 'store',
    niceness,
    script: installation.program('store'),
    // A restarted store keeps its first port, because the other roles know it.
    environment: (firstReady) => ({
      ...engine,
      RETRACE_STORE_DIRECTORY: directory.store,
      // Each running statement occupies a thread of libuv's pool.
      UV_THREADPOOL_SIZE: '12',
      RETRACE_STORE_HOST: LOOPBACK,
      RETRACE_STORE_PORT: findPort(firstReady) ?? `${port}`,
      RETRACE_STORE_USER: user,
      RETRACE_STORE_PASSWORD: password,
      RETRACE_STORE_READONLY_USER: readonlyUser,
      RETRACE_STORE_READONLY_PASSWORD: readonlyPassword,
    }),
    readyTimeoutMs: READY_TIMEOUT_MS,
    heartbeatTimeoutMs: 60_000,
    stopTimeoutMs: 30_000,
    healthUrl: ({ url }) => `${url ?? ''}/ping`,
  };
}

interface SinkRoleOptions {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
}

/** Of a sink: who starts it has compared store and log, or was told to accept both. */
const IS_CHECKED = { RETRACE_ACCEPT_OTHER_LOG: 'on' } as const;

interface ApiRoleOptions extends SinkRoleOptions {
  readonly port: number;
  /** That it shares with the proxy for agents. */
  readonly agentsKey: string;
  readonly onListening: (url: string) => void;
  /** Answers what the API asks about the runs of this server. */
  readonly onRequest: NonNullable<RoleDefinition['onRequest']>;
}

/** Defines the API, which serves the dashboard and hosts the sink. */
export function apiRole({
  directory,
  storeUrl,
  port,
  agentsKey,
  onListening,
  onRequest,
}: ApiRoleOptions): RoleDefinition {
  const { readonlyUser, readonlyPassword } = directory.credentials();
  return {
    name: 'api',
    script: installation.program('api'),
    nodeArguments: GARBAGE_COLLECTION_OF_ROWS,
    environment: (firstReady) =>
      storeEnvironment(directory, storeUrl, {
        RETRACE_STORE_READONLY_USER: readonlyUser,
        RETRACE_STORE_READONLY_PASSWORD: readonlyPassword,
        RETRACE_API_HOST: LOOPBACK,
        RETRACE_API_KEYS_DIRECTORY: locateKeys(directory),
        RETRACE_TRACE_DIRECTORY: directory.traces,
        RETRACE_ALARM_DIRECTORY: directory.alarms,
        RETRACE_API_PORT: Number(findPort(firstReady) ?? port),
        RETRACE_QUESTIONS_SCRIPT: installation.program('questions'),
        RETRACE_DASHBOARD_DIRECTORY: installation.dashboard,
        RETRACE_DOCUMENTATION_DIRECTORY: installation.documentation,
        RETRACE_MIGRATIONS_DIRECTORY: installation.migrations,
        RETRACE_SINK: 'on',
        RETRACE_RUN_CONTROL: 'on',
        RETRACE_AGENTS_KEY: agentsKey,
        ...IS_CHECKED,
      }),
    readyTimeoutMs: READY_TIMEOUT_MS,
    heartbeatTimeoutMs: 30_000,
    stopTimeoutMs: 30_000,
    onListening,
    onRequest,
    healthUrl: ({ url }) => `${url ?? ''}/api/health`,
  };
}

/** Defines the sink as a process of its own, where no API runs. */
export function sinkRole({ directory, storeUrl }: SinkRoleOptions): RoleDefinition {
  return {
    name: 'sink',
    niceness: FOLLOWS_THE_LOG,
    script: installation.program('sink'),
    nodeArguments: GARBAGE_COLLECTION_OF_ROWS,
    environment: () =>
      storeEnvironment(directory, storeUrl, {
        RETRACE_MIGRATIONS_DIRECTORY: installation.migrations,
        ...IS_CHECKED,
      }),
    readyTimeoutMs: READY_TIMEOUT_MS,
    heartbeatTimeoutMs: 30_000,
    stopTimeoutMs: 60_000,
  };
}

/**
 * Defines the proxy that records agents' calls. It ends with its first failure, since its port is another one after each start; the next call starts it again.
 *
 * @param agentsKey that it shares with the API
 */
export function agentsRole(directory: DataDirectory, agentsKey: string): RoleDefinition {
  return {
    name: 'agents',
    script: installation.program('agents'),
    niceness: BEHIND_TRAINING,
    environment: () =>
      roleEnvironment(locateLog(directory), {
        RETRACE_DATA_DIR: directory.root,
        RETRACE_AGENTS_KEY: agentsKey,
      }),
    readyTimeoutMs: READY_TIMEOUT_MS,
    heartbeatTimeoutMs: 120_000,
    stopTimeoutMs: 30_000,
    restart: { firstDelayMs: 0, maxDelayMs: 0, healthyAfterMs: Infinity, maxSameSentence: 1, maxFailures: 1 },
  };
}

interface RunRoleOptions {
  readonly directory: DataDirectory;
  /** Null without a store. */
  readonly storeUrl: string | null;
  readonly runId: string;
  readonly backend: BackendChoice | undefined;
  /** Steps of priority below API and store, so that these answer while compute uses every core. */
  readonly niceness: number;
  /** Port of the trainer's Prometheus endpoint; the collectors have the next ones, and the validator the one after them. */
  readonly metricsPort?: number;
  /** Whether the run's `RunEnded` is in the log. Only then has a role that exits with 0 finished its work. */
  readonly hasRunEnded: () => boolean;
}

type TrainerRoleOptions = RunRoleOptions & { readonly engine: EngineRecipe };

/** Defines the run's trainer. */
export function trainerRole({ engine, ...options }: TrainerRoleOptions): RoleDefinition {
  return runRole('trainer', installation.program('trainer'), options, trainerVariables(options, engine));
}

/** Defines trainer and collector of the run as one process, with its validator where `validates` says so. */
export function colocatedRole({
  engine,
  validates,
  ...options
}: TrainerRoleOptions & { readonly validates: boolean }): RoleDefinition {
  const variables = {
    ...trainerVariables(options, engine),
    // Also hides one that this process inherited.
    RETRACE_COLOCATE_VALIDATOR: validates ? ('on' as const) : ('off' as const),
  };
  return runRole(COLOCATED, installation.program('colocated'), options, variables);
}

function trainerVariables({ metricsPort }: RunRoleOptions, engine: EngineRecipe) {
  return { RETRACE_METRICS_PORT: metricsPort, RETRACE_ENGINE: JSON.stringify(engine) };
}

/** Defines one of the run's collectors. */
export function collectorRole({
  share,
  ...options
}: RunRoleOptions & { readonly share: Share }): RoleDefinition {
  const number = share.index + 1;
  const name = number === 1 ? 'collector' : `collector-${number}`;
  const { metricsPort } = options;
  const variables = {
    RETRACE_COLLECTOR_SHARE: `${number}/${share.count}`,
    RETRACE_METRICS_PORT: metricsPort === undefined ? undefined : metricsPort + number,
  };
  return { ...runRole(name, installation.program('collector'), options, variables), group: 'collectors' };
}

/** Defines the process that measures the run's policies. It yields the processor to collectors and trainer. */
export function validatorRole({
  numCollectors,
  ...options
}: RunRoleOptions & { readonly numCollectors: number }): RoleDefinition {
  const { metricsPort } = options;
  const variables = {
    RETRACE_METRICS_PORT: metricsPort === undefined ? undefined : metricsPort + numCollectors + 1,
  };
  const niceness = Math.min(options.niceness + BEHIND_TRAINING, LOWEST_PRIORITY);
  return runRole('validator', installation.program('validator'), { ...options, niceness }, variables);
}

/** Defines a compute role. Its first step can take long, so it has longer timeouts. */
function runRole(
  name: string,
  script: string,
  options: RunRoleOptions,
  variables: Parameters<typeof roleEnvironment>[1] = {},
): RoleDefinition {
  const { directory, storeUrl, runId, backend, hasRunEnded, niceness } = options;
  return {
    name,
    script,
    nodeArguments: GARBAGE_COLLECTION,
    niceness,
    environment: () =>
      storeEnvironment(directory, storeUrl, {
        ...variables,
        RETRACE_RUN_ID: runId,
        RETRACE_BACKEND: backend,
        RETRACE_SPOOL_DIRECTORY: directory.spool,
      }),
    readyTimeoutMs: READY_TIMEOUT_MS,
    heartbeatTimeoutMs: 120_000,
    stopTimeoutMs: 30_000,
    mayFinish: hasRunEnded,
  };
}

/** The variables of a role that works on the log and the store of a data directory. */
function storeEnvironment(
  directory: DataDirectory,
  storeUrl: string | null,
  variables: Parameters<typeof roleEnvironment>[1],
): Record<string, string> {
  const { user, password } = directory.credentials();
  return roleEnvironment(locateLog(directory), {
    // Also hides one that this process inherited.
    RETRACE_STORE_URL: storeUrl ?? '',
    RETRACE_STORE_USER: user,
    RETRACE_STORE_PASSWORD: password,
    RETRACE_CHECKPOINT_DIRECTORY: directory.checkpoints,
    ...checkpointStorageVariables(checkpointStorageFor(directory)),
    RETRACE_TOKENIZER_DIRECTORY: directory.tokenizers,
    ...variables,
  });
}

/** The port in the first ready message; undefined before there was one. */
function findPort(firstReady: ReadyMessage | null): string | undefined {
  return firstReady?.url === undefined ? undefined : new URL(firstReady.url).port;
}
