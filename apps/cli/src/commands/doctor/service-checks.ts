import { describeLog, LogError } from '@retrace/log';
import { createStoreClient, readSchemaState, StoreError } from '@retrace/store';
import { installation } from '../../installation.js';
import type { Services } from '../../services/services.js';
import { runCheck, type CheckResult } from './check.js';

/** A person waits: a service that does not answer by then is away. */
const patienceMs = 8_000;
const gibibyte = 1024 ** 3;
const advisedDiskBytes = 5 * gibibyte;
const neededDiskBytes = 0.25 * gibibyte;

/** Whether the log on Kafka answers, and whether its topics are as they should be; makes nothing. */
export function checkLog({ log }: Services): Promise<CheckResult> {
  return runCheck('log', async () => {
    if (log.kind !== 'kafka') return { verdict: 'ok', detail: `in directory ${log.path}` };
    const brokers = log.brokers.join(',');
    try {
      const found = await describeLog({ ...log, requestDeadlineMs: patienceMs });
      if (found === null) {
        return { verdict: 'ok', detail: `Kafka at ${brokers} answers; its topics are made on first use` };
      }
      const { numPartitions, replicationFactor } = found.trajectories;
      const copies =
        replicationFactor === 1 ? 'one copy of each' : `${String(replicationFactor)} copies of each`;
      const detail = `Kafka at ${brokers} answers; ${found.trajectories.topic} has ${String(numPartitions)} partitions, ${copies}`;
      return replicationFactor === 1
        ? {
            verdict: 'warn',
            detail: `${detail}: a broker's disk that fails takes the log along; three are advised`,
          }
        : { verdict: 'ok', detail };
    } catch (error) {
      return { verdict: 'fail', detail: `${sentenceOf(error)}; ${adviceOnLog(error)}` };
    }
  });
}

/** Whether the store answers, has this code's schema, and room on its disks. */
export function checkStore({ storeUrl, storeCluster, directory }: Services): Promise<CheckResult> {
  return runCheck('store', async () => {
    const { user, password } = directory.credentials();
    const client = createStoreClient({
      url: storeUrl,
      username: user,
      password,
      cluster: storeCluster,
      requestTimeoutMs: patienceMs,
    });
    try {
      const schema = await readSchemaState(client, { directory: installation.migrations });
      const where = `ClickHouse ${schema.engineVersion} at ${storeUrl}`;
      if (schema.numUnknown > 0) {
        return { verdict: 'fail', detail: `${where}: its schema is of later code; update this installation` };
      }
      const migrations =
        schema.numPending === 0
          ? 'its schema is up to date'
          : `${String(schema.numPending)} migrations are to come, which the next sink or API applies`;
      const freeBytes = Math.min(...schema.disks.map((disk) => disk.freeBytes));
      const room = `${(freeBytes / gibibyte).toFixed(1)} GiB free`;
      const detail = `${where}: ${migrations}, ${room}`;
      if (freeBytes >= advisedDiskBytes) return { verdict: 'ok', detail };
      return {
        verdict: freeBytes < neededDiskBytes ? 'fail' : 'warn',
        detail: `${detail}; free some space there`,
      };
    } catch (error) {
      return { verdict: 'fail', detail: `${sentenceOf(error)}; ${adviceOnStore(error)}` };
    } finally {
      await client.close();
    }
  });
}

function sentenceOf(error: unknown): string {
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
  if (code === 'MIGRATION_REPLACED') return 'delete it and start again: the log fills it';
  if (code === 'MIGRATION_EDITED') return 'install the migrations as they were released';
  return 'start it, or correct RETRACE_STORE_URL';
}
