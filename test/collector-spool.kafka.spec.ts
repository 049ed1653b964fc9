import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TrajectoryWriter } from '@retrace/collector';
import { episodeIdFor, newRunId, type AnyEvent } from '@retrace/trajectory';
import { episodeEvent } from '@retrace/trajectory/testing';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { openKafkaLog } from '@retrace/log/kafka';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';
const NUM_EPISODES = 5;

describe.skipIf(reason !== '')(`a collector's writer on Kafka${reason}`, () => {
  const atEnd: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  it('goes on while the broker is killed, and has brought every event in order when it is back', async () => {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const directory = await mkdtemp(join(tmpdir(), 'spool-'));
    atEnd.push(() => rm(directory, { recursive: true }));
    const log = await openKafkaLog({
      brokers: [broker.addresses.plaintext],
      createdBy: 'test',
      numTrajectoryPartitions: 2,
      deliveryTimeoutMs: 1_000,
    });
    atEnd.push(() => log.close());
    const notices: string[] = [];
    const writer = await TrajectoryWriter.open(log, {
      spool: { directory, maxBytes: 64 * 1024 * 1024 },
      awayAfterMs: 500,
      onNotice: (line) => notices.push(line),
    });
    const runId = newRunId();
    const written = new Map<string, string[]>();
    let seq = 0;
    const play = async (numTurns: number): Promise<void> => {
      for (const end = seq + numTurns; seq < end; seq++) {
        for (let ordinal = 0; ordinal < NUM_EPISODES; ordinal++) {
          const episodeId = episodeIdFor({ runId, ordinal });
          const ids = { logId: log.logId, runId, episodeId };
          const event = episodeEvent(ids, 'RewardAssigned', seq, { rationale: 'x'.repeat(2_000) });
          writer.write(event as AnyEvent);
          written.set(episodeId, [...(written.get(episodeId) ?? []), event.eventId]);
        }
        await writer.betweenTurns();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };

    await play(50);
    await broker.command('kill');
    await play(100);
    await expect.poll(() => writer.spoolBytes).toBeGreaterThan(100 * NUM_EPISODES * 2_000);
    await broker.command('start');
    await play(50);
    expect(await writer.flush()).toBe(true);
    expect(await writer.close()).toBe(0);
    expect(notices[0]).toMatch(/^the event log is unavailable, events wait in the spool/);
    expect(notices.at(-1)).toMatch(/^the event log is back/);

    const seen = new Set<string>();
    const stored = new Map<string, string[]>();
    for (const partition of [0, 1]) {
      for (const { bytes } of await log.read('trajectories', partition, 0, {
        maxRecords: 1e5,
        maxBytes: 1e8,
      })) {
        const { eventId, episodeId } = peekEnvelope(bytes) as { eventId: string; episodeId: string };
        if (!seen.has(eventId)) stored.set(episodeId, [...(stored.get(episodeId) ?? []), eventId]);
        seen.add(eventId);
      }
    }
    expect(stored).toEqual(written);
  });
});
