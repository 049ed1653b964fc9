import { roleEnvironment, type DataDirectory, type BackendChoice, type Share } from '@retrace/process';
import { logOf } from '../services/environment.js';
import { installation } from '../installation.js';
import type { RoleDefinition } from '../supervisor/role.js';
import type { ReadyMessage } from '../supervisor/role-process.js';

/** The host that every part of the embedded pair listens on. */
export const LOOPBACK = '127.0.0.1';

/**
 * Roles that carry events allocate in bursts, most of it garbage by the next one: with room for a burst in the young generation (MiB;
 * V8's own choice is 16), collections are few and find little to copy. What they keep is small, tens of MiB, so V8 would mark all of it
 * about once an update; they may grow to four times that first, which takes a sixth off the CPU time of an update.
 */
export const GARBAGE_COLLECTION: readonly string[] = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--heap-growing-percent=300',
];

/** Compute takes every core there is; log, store and API answer first. */
const BEHIND_SERVERS = 10;

export type BackendName = BackendChoice;

/** The chDB child: the embedded store behind ClickHouse's HTTP protocol. */
export function storeRole(directory: DataDirectory, port = 0): RoleDefinition {
  const { user, password, readonlyUser, readonlyPassword } = directory.credentials();
  return {
    name: 'store',
    script: installation.scripts.store,
    // A port that was free at the first start is kept through restarts: the other roles know it.
    environment: (firstReady) => ({
      RETRACE_STORE_DIRECTORY: directory.store,
      // Each running statement holds a thread of this pool.
      UV_THREADPOOL_SIZE: '12',
      RETRACE_STORE_HOST: LOOPBACK,
      RETRACE_STORE_PORT: portOf(firstReady) ?? String(port),
      RETRACE_STORE_USER: user,
      RETRACE_STORE_PASSWORD: password,
      RETRACE_STORE_READONLY_USER: readonlyUser,
      RETRACE_STORE_READONLY_PASSWORD: readonlyPassword,
    }),
    readyTimeoutMs: 60_000,
    heartbeatTimeoutMs: 60_000,
    stopTimeoutMs: 30_000,
    healthUrl: ({ url }) => `${url ?? ''}/ping`,
  };
}

export interface ApiRoleOptions {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
  readonly port: number;
}

/** The API, which serves the dashboard and hosts the sink. */
export function apiRole({ directory, storeUrl, port }: ApiRoleOptions): RoleDefinition {
  const { readonlyUser, readonlyPassword } = directory.credentials();
  return {
    name: 'api',
    script: installation.scripts.api,
    nodeArguments: GARBAGE_COLLECTION,
    environment: (firstReady) =>
      storeEnvironment(directory, storeUrl, {
        RETRACE_STORE_READONLY_USER: readonlyUser,
        RETRACE_STORE_READONLY_PASSWORD: readonlyPassword,
        RETRACE_API_HOST: LOOPBACK,
        RETRACE_API_PORT: Number(portOf(firstReady) ?? port),
        RETRACE_DASHBOARD_DIRECTORY: installation.dashboard,
        RETRACE_MIGRATIONS_DIRECTORY: installation.migrations,
        RETRACE_SINK: 'on',
      }),
    readyTimeoutMs: 60_000,
    heartbeatTimeoutMs: 30_000,
    stopTimeoutMs: 30_000,
    healthUrl: ({ url }) => `${url ?? ''}/api/health`,
  };
}

/** The sink alone, where no API runs. */
export function sinkRole(directory: DataDirectory, storeUrl: string): RoleDefinition {
  return {
    name: 'sink',
    script: installation.scripts.sink,
    nodeArguments: GARBAGE_COLLECTION,
    environment: () =>
      storeEnvironment(directory, storeUrl, { RETRACE_MIGRATIONS_DIRECTORY: installation.migrations }),
    readyTimeoutMs: 60_000,
    heartbeatTimeoutMs: 30_000,
    stopTimeoutMs: 60_000,
  };
}

export interface RunRoleOptions {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
  readonly runId: string;
  readonly backend: BackendName | undefined;
  /** Whether the run's `RunEnded` is in the log: only then is a role that exits finished. */
  readonly hasRunEnded: () => boolean;
}

export function trainerRole(options: RunRoleOptions): RoleDefinition {
  return runRole('trainer', installation.scripts.trainer, options);
}

/** One of the run's collectors. */
export function collectorRole({
  share,
  ...options
}: RunRoleOptions & { readonly share: Share }): RoleDefinition {
  const number = share.index + 1;
  const name = number === 1 ? 'collector' : `collector-${number}`;
  const variables = { RETRACE_COLLECTOR_SHARE: `${number}/${share.count}` };
  return { ...runRole(name, installation.scripts.collector, options, variables), group: 'collectors' };
}

/** Compute roles: a first step may take long, so they get more time before silence counts as death. */
function runRole(
  name: string,
  script: string,
  options: RunRoleOptions,
  variables: Readonly<Record<string, string>> = {},
): RoleDefinition {
  const { directory, storeUrl, runId, backend, hasRunEnded } = options;
  return {
    name,
    script,
    nodeArguments: GARBAGE_COLLECTION,
    niceness: BEHIND_SERVERS,
    environment: () =>
      storeEnvironment(directory, storeUrl, {
        ...variables,
        RETRACE_RUN_ID: runId,
        RETRACE_BACKEND: backend,
        RETRACE_SPOOL_DIRECTORY: directory.spool,
      }),
    readyTimeoutMs: 120_000,
    heartbeatTimeoutMs: 120_000,
    stopTimeoutMs: 30_000,
    mayFinish: hasRunEnded,
  };
}

/** The variables of a role that works on the log and the store of a data directory. */
function storeEnvironment(
  directory: DataDirectory,
  storeUrl: string,
  variables: Parameters<typeof roleEnvironment>[1],
): Record<string, string> {
  const { user, password } = directory.credentials();
  return roleEnvironment(logOf(directory), {
    RETRACE_STORE_URL: storeUrl,
    RETRACE_STORE_USER: user,
    RETRACE_STORE_PASSWORD: password,
    RETRACE_CHECKPOINT_DIRECTORY: directory.checkpoints,
    RETRACE_TOKENIZER_DIRECTORY: directory.tokenizers,
    ...variables,
  });
}

/** Port of the address in the first ready message; undefined before there was one. */
function portOf(firstReady: ReadyMessage | null): string | undefined {
  return firstReady?.url === undefined ? undefined : new URL(firstReady.url).port;
}
