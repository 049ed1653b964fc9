import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { episodeIdFor, type AnyEvent } from '@retrace/trajectory';
import { type EventLog } from '@retrace/log';
import { decodeEvent, encodeEvent, KnownEvents } from '@retrace/trajectory/codec';
import { episodeEvent } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { TrajectoryWriter } from './trajectory-writer.js';

// Fixed, and with it the partition of each episode.
const RUN_ID = '01a00000-0000-7000-8000-000000000001';

function eventOf(ordinal: number): AnyEvent {
  return episodeEvent(
    { logId: RUN_ID, runId: RUN_ID, episodeId: episodeIdFor({ runId: RUN_ID, ordinal }) },
    'EpisodeStarted',
    0,
  ) as AnyEvent;
}

function openDecision() {
  let decide: (mayAppend: boolean) => void = () => undefined;
  const promise = new Promise<boolean>((resolve) => (decide = resolve));
  return { promise, decide };
}

/** A log that acknowledges when told to; only what the writer calls. */
function gatedLog() {
  const appends: { partition: number; ordinals: string[]; settle: (error?: Error) => void }[] = [];
  const log = {
    logId: RUN_ID,
    maxRecordBytes: 1e6,
    maxEventBytes: 1e6,
    numPartitions: () => 2,
    append: (_stream: string, partition: number, records: readonly Uint8Array[]) =>
      new Promise((resolve, reject) => {
        const ordinals = records.map((bytes) => {
          const decoded = decodeEvent(bytes);
          return decoded.ok ? decoded.event.episodeId : 'undecodable';
        });
        appends.push({
          partition,
          ordinals,
          settle: (error) => {
            if (error) reject(error);
            else resolve({ firstOffset: 0 });
          },
        });
      }),
  };
  return { log: log as unknown as EventLog, appends };
}

describe('TrajectoryWriter', () => {
  it('gives others the thread between turns even where nothing waits', async () => {
    const writer = await TrajectoryWriter.open(gatedLog().log);
    let hadTurn = false;
    void setImmediate().then(() => (hadTurn = true));
    await writer.betweenTurns();
    expect(hadTurn).toBe(true);
    await writer.close();
  });

  it('keeps events of one partition together and in order, and hands them over when they have waited', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log, { lingerMs: 0 });
    const events = Array.from({ length: 8 }, (_, ordinal) => eventOf(ordinal));
    for (const event of events) writer.write(event);
    expect(appends).toHaveLength(0);
    await writer.betweenTurns();
    expect(appends.map(({ partition }) => partition).sort()).toEqual([0, 1]);
    for (const { ordinals } of appends) expect(ordinals).toEqual([...ordinals].sort());
    expect(appends.flatMap(({ ordinals }) => ordinals)).toHaveLength(8);
  });

  it('appends nothing that is held before it is decided that it may be', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log, { lingerMs: 0, maxBatchBytes: 1 });
    const decision = openDecision();
    writer.hold(decision.promise);
    writer.write(eventOf(0));
    await writer.betweenTurns();
    const flushed = writer.flush();
    expect(appends).toHaveLength(0);
    decision.decide(true);
    await setImmediate();
    expect(appends.map(({ ordinals }) => ordinals)).toEqual([[eventOf(0).episodeId]]);
    appends[0].settle();
    expect(await flushed).toBe(true);
  });

  it('drops what is held where it may not be appended, even what turns wait with, and goes on with what comes after', async () => {
    const { log, appends } = gatedLog();
    const known = new KnownEvents();
    const writer = await TrajectoryWriter.open(log, { maxBatchBytes: 1, maxMemoryBytes: 1, known });
    const decision = openDecision();
    const dropped = writer.hold(decision.promise);
    writer.write(eventOf(0));
    const waiting = writer.betweenTurns();
    expect(dropped.aborted).toBe(false);
    decision.decide(false);
    await waiting;
    expect(dropped.aborted).toBe(true);
    writer.write(eventOf(1));
    await writer.betweenTurns();
    expect(writer.memoryBytes).toBe(0);
    expect(await writer.flush()).toBe(false);
    for (const event of [eventOf(0), eventOf(1)]) expect(known.take(encodeEvent(event))).toBeNull();
    writer.write(eventOf(2));
    expect(appends.map(({ ordinals }) => ordinals)).toEqual([[eventOf(2).episodeId]]);
    appends[0].settle();
    expect(await writer.flush()).toBe(true);
  });

  it('counts the time until it is decided, once and apart from waits for the log', async () => {
    const { log } = gatedLog();
    const writer = await TrajectoryWriter.open(log);
    expect(await writer.decided()).toBe(true);
    expect(writer.takeHeldSeconds()).toBe(0);
    const decision = openDecision();
    writer.hold(decision.promise);
    const before = performance.now();
    const decided = writer.decided();
    await sleep(20);
    decision.decide(true);
    await decided;
    const seconds = writer.takeHeldSeconds();
    expect(seconds).toBeGreaterThan(0.01);
    expect(seconds).toBeLessThanOrEqual((performance.now() - before) / 1000);
    expect([writer.takeHeldSeconds(), writer.takeWaitedSeconds()]).toEqual([0, 0]);
    await writer.close();
  });

  it('throws why it could not be decided', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log, { maxBatchBytes: 1 });
    const dropped = writer.hold(Promise.reject(new Error('the log is gone')));
    writer.write(eventOf(0));
    await expect(writer.flush()).rejects.toThrow('the log is gone');
    expect(dropped.aborted).toBe(true);
    expect(appends).toHaveLength(0);
  });

  it('drops what is held when it closes', async () => {
    const { log, appends } = gatedLog();
    const directory = await mkdtemp(join(tmpdir(), 'retrace-held-'));
    const spool = { directory, maxBytes: 1e6 };
    const writer = await TrajectoryWriter.open(log, { spool });
    writer.hold(new Promise(() => undefined));
    writer.write(eventOf(0));
    expect(await writer.close()).toBe(0);
    const next = await TrajectoryWriter.open(log, { spool });
    expect(await next.flush()).toBe(true);
    expect(appends).toHaveLength(0);
    await next.close();
    await rm(directory, { recursive: true });
  });

  it('sends a batch at once when it is full', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log, { maxBatchBytes: 1 });
    writer.write(eventOf(0));
    expect(appends).toHaveLength(1);
  });

  it('flushes only when everything is acknowledged', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log);
    writer.write(eventOf(0));
    let flushed = false;
    const flushing = writer.flush().then(() => {
      flushed = true;
    });
    await Promise.resolve();
    expect(flushed).toBe(false);
    appends[0].settle();
    await flushing;
    expect(flushed).toBe(true);
  });

  it('holds turns back while too much is unacknowledged', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log, { maxBatchBytes: 1, maxMemoryBytes: 1 });
    writer.write(eventOf(0));
    let released = false;
    const waiting = writer.betweenTurns().then(() => {
      released = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(released).toBe(false);
    appends[0].settle();
    await waiting;
  });

  it('rejects from then on when the log refuses, so that nothing is thought to be written', async () => {
    const { log, appends } = gatedLog();
    const writer = await TrajectoryWriter.open(log, { maxBatchBytes: 1 });
    writer.write(eventOf(0));
    appends[0].settle(new Error('disk full'));
    await expect(writer.flush()).rejects.toThrow('disk full');
    await expect(writer.betweenTurns()).rejects.toThrow('disk full');
  });
});
