import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { ControlTail } from '@retrace/log';
import { openKafkaLog } from '@retrace/log/kafka';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import type { Figure } from '../support/run-long-spec.mjs';
import { ServiceRoles } from '../support/services.js';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

declare module 'vitest' {
  interface TaskMeta {
    figures?: Figure[];
  }
}

/** Makes an append fail after a second, so that the roles themselves must wait. */
const impatient = { RETRACE_KAFKA_DELIVERY_TIMEOUT_MS: '1000' };
const recipe = (...more: string[]) => [
  ...['--recipe', 'bandit-ppo', '--updates', '4', '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=0', '--set', 'evaluation.everyUpdates=0', ...more],
];

describe.skipIf(reason !== '')(`roles on Kafka while the log is away${reason}`, () => {
  const atEnd: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  async function start(): Promise<{ broker: StartedBroker; roles: ServiceRoles; log: EventLog }> {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const roles = await ServiceRoles.start(broker);
    atEnd.push(() => roles.stop());
    await roles.role(['sink']).waitFor(/writing the log/);
    const log = await openKafkaLog({
      brokers: [broker.addresses.plaintext],
      createdBy: 'test',
      numTrajectoryPartitions: 3,
    });
    atEnd.push(() => log.close());
    return { broker, roles, log };
  }

  const sound = { numFaults: 0, numPending: 0, numDeadLetters: 0, numConflicts: 0 };
  const updates =
    'SELECT count() AS n, uniqExact(update_number) AS u FROM updates WHERE applied_at IS NOT NULL';

  it('a trainer in mid-update waits, and neither loses nor doubles the update', async () => {
    const { broker, roles, log } = await start();
    const trainer = roles.role(['train', ...recipe()], impatient);
    const runId = await trainer.waitFor(/started bandit-ppo, run (\S+)/);
    const collector = roles.role(['collect', '--run', 'latest', '--backend', 'wasm'], impatient);
    const control = new ControlTail(log);
    const isPlanned = () => {
      const [pending] = control.state.run(runId)?.updates.pendingPlans ?? [];
      return pending !== undefined && pending.updateNumber >= 2;
    };
    while (!isPlanned()) await control.changed(AbortSignal.timeout(90_000));
    control.close();
    await broker.command('kill');
    await trainer.waitFor(/trainer: waits for the event log: /);
    await sleep(3_000);
    expect(trainer.child.exitCode).toBeNull();
    await broker.command('start');

    expect(await roles.finish(trainer, 120_000)).toBe(0);
    expect(await roles.finish(collector, 30_000)).toBe(0);
    expect((await roles.verify()).report).toMatchObject(sound);
    expect(await roles.sql(updates)).toEqual([{ n: 4, u: 4 }]);
  }, 480_000);

  it('a collector that is killed with a spool brings all of it into the log at its next start', async ({
    task,
  }) => {
    const { broker, roles, log } = await start();
    // Rounds take seconds, so that the log becomes unavailable in the middle of one.
    const long = recipe(
      ...['--set', 'collection.groupsPerRound=4000', '--set', 'collection.concurrentEpisodes=16'],
    );
    const trainer = roles.role(['train', ...long, '--updates', '1'], impatient);
    const runId = await trainer.waitFor(/started bandit-ppo, run (\S+)/);
    const collect = () => roles.role(['collect', '--run', 'latest', '--backend', 'wasm'], impatient);
    const first = collect();
    await expect.poll(() => numTrajectoryRecords(log)).toBeGreaterThan(50);
    await broker.command('kill');
    await first.waitFor(/the event log is unavailable, events wait in the spool/);
    const directory = join(roles.environment.RETRACE_DATA_DIR, 'spool', runId);
    await expect.poll(() => spooledEventIds(directory).length).toBeGreaterThan(20);
    first.child.kill('SIGKILL');
    await first.ended;
    const spooled = spooledEventIds(directory);
    expect(spooled.length).toBeGreaterThan(20);
    await broker.command('start');

    const second = collect();
    expect(await roles.finish(trainer, 150_000)).toBe(0);
    expect(await roles.finish(second, 30_000)).toBe(0);
    expect(spooledEventIds(directory)).toEqual([]);
    const inLog = await eventIdsOf(log);
    const missing = spooled.filter((eventId) => !inLog.has(eventId));
    expect(missing).toEqual([]);
    task.meta.figures = [
      { name: 'events in the spool of the killed collector', value: spooled.length },
      { name: 'of them not in the log after its next start', value: missing.length },
    ];
    expect((await roles.verify()).report).toMatchObject(sound);
    // Every started episode is accounted for: sealed, and in a closed group.
    expect(await roles.sql('SELECT count() AS n FROM episodes WHERE NOT sealed')).toEqual([{ n: 0 }]);
    expect(await roles.sql(updates)).toEqual([{ n: 1, u: 1 }]);
  }, 600_000);
});

async function numTrajectoryRecords(log: EventLog): Promise<number> {
  const ends = [0, 1, 2].map((partition) => log.endOffset('trajectories', partition));
  return (await Promise.all(ends)).reduce((sum, end) => sum + end, 0);
}

async function eventIdsOf(log: EventLog): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const partition of [0, 1, 2]) {
    for (let next = 0; ;) {
      const records = await log.read('trajectories', partition, next);
      if (records.length === 0) break;
      for (const { bytes } of records) ids.add(peekEnvelope(bytes)?.eventId ?? '');
      next = records[records.length - 1].offset + 1;
    }
  }
  return ids;
}

/** Reads the ids of the events in spool files: a header of 44 bytes, then records, each after its length and checksum of 4 bytes. */
function spooledEventIds(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const bytes = readFileSync(join(directory, name));
    const ids: string[] = [];
    for (let at = 44; at + 8 <= bytes.length;) {
      const end = at + 8 + bytes.readUInt32LE(at);
      if (end > bytes.length) break;
      ids.push(peekEnvelope(bytes.subarray(at + 8, end))?.eventId ?? '');
      at = end;
    }
    return ids;
  });
}
