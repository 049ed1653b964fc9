import { describeLog, LogError } from '@retrace/log';
import { createStoreClient, readSchemaState, StoreError } from '@retrace/store';
import { CLUSTER_NOTICE } from '../../experimental.js';
import { installation } from '../../installation.js';
import type { Services } from '../../services/services.js';
import { runCheck, type CheckResult } from './check.js';
import { gibibytes, verdictOnFreeSpace } from './free-space.js';

/** A service that does not answer by then counts as unavailable. */
const ANSWER_TIMEOUT_MS = 8_000;

/** Checks that Kafka answers and has the topics that the environment asks for, without creating any. */
export function checkLog({ log }: Services): Promise<CheckResult> {
  return runCheck('log', async () => {
    if (log.kind !== 'kafka') return { verdict: 'ok', detail: `in directory ${log.path}` };
    const brokers = log.brokers.join(',');
    try {
      const found = await describeLog({ ...log, requestDeadlineMs: ANSWER_TIMEOUT_MS });
      if (found === null) {
        return { verdict: 'ok', detail: `Kafka at ${brokers} answers; its topics are created on first use` };
      }
      const { numPartitions, replicationFactor } = found.trajectories;
      const copies = replicationFactor === 1 ? 'one copy of each' : `${replicationFactor} copies of each`;
      const detail = `Kafka at ${brokers} answers; ${found.trajectories.topic} has ${numPartitions} partitions, ${copies}`;
      return replicationFactor === 1
        ? {
            verdict: 'warn',
            detail: `${detail}; if that broker's disk fails, the log is lost; three copies are advised`,
          }
        : { verdict: 'ok', detail };
    } catch (error) {
      return { verdict: 'fail', detail: `${describeError(error)}; ${adviceOnLog(error)}` };
    }
  });
}

/** Checks that the store answers, has the schema of this version, and has free space. */
export function checkStore({ storeUrl, storeCluster, directory }: Services): Promise<CheckResult> {
  return runCheck('store', async () => {
    const { user, password } = directory.credentials();
    const client = createStoreClient({
      url: storeUrl,
      username: user,
      password,
      cluster: storeCluster,
      requestTimeoutMs: ANSWER_TIMEOUT_MS,
    });
    try {
      const schema = await readSchemaState(client, { directory: installation.migrations });
      const where = `ClickHouse ${schema.engineVersion} at ${storeUrl}`;
      const { pending } = schema;
      const migrations =
        pending?.length === 0
          ? 'its schema is up to date'
          : `the next sink or API will apply ${pending === null ? 'all migrations' : pending.join(', ')}`;
      const freeBytes = Math.min(...schema.disks.map((disk) => disk.freeBytes));
      const verdict = verdictOnFreeSpace(freeBytes);
      const detail =
        `${where}: ${migrations}, ${gibibytes(freeBytes)} GiB free` +
        (verdict === 'ok' ? '' : '; free some space there');
      if (storeCluster === null) return { verdict, detail };
      return { verdict: verdict === 'ok' ? 'warn' : verdict, detail: `${detail}; ${CLUSTER_NOTICE}` };
    } catch (error) {
      return { verdict: 'fail', detail: `${describeError(error)}; ${adviceOnStore(error)}` };
    } finally {
      await client.close();
    }
  });
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function adviceOnLog(error: unknown): string {
  const code = error instanceof LogError ? error.code : '';
  if (code === 'LOG_UNAUTHORIZED') return 'see RETRACE_KAFKA_SASL_MECHANISM, …_USERNAME and …_PASSWORD';
  if (code === 'LOG_INCOMPATIBLE')
    return 'change that setting of the topic, or the RETRACE_KAFKA_… variable that asks for it';
  if (code === 'LOG_REPLACED') return 'see docs/operations.md';
  return 'start the brokers, or correct RETRACE_KAFKA_BROKERS';
}

function adviceOnStore(error: unknown): string {
  const code = error instanceof StoreError ? error.code : '';
  if (code === 'STORE_AUTHENTICATION_FAILED') return 'see RETRACE_STORE_USER and RETRACE_STORE_PASSWORD';
  if (code === 'MIGRATION_REPLACED') return 'delete it and start again: it is filled from the log';
  if (code === 'MIGRATION_UNKNOWN') return 'or use another store';
  if (code === 'MIGRATION_EDITED') return 'install the migrations as they were released';
  return 'start it, or correct RETRACE_STORE_URL';
}
