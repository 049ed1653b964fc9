import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { episodeIdFor, newRunId, type AnyEvent } from '@retrace/trajectory';
import { type EventLog } from '@retrace/log';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { episodeEvent } from '@retrace/trajectory/testing';
import { openLmdbLog } from '@retrace/log/lmdb';
import { faultyLog, overriding, type Fault } from '@retrace/log/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrajectoryWriter, type TrajectoryWriterOptions } from './trajectory-writer.js';

const runId = newRunId();
const MIB = 1024 * 1024;

function eventOf(ordinal: number, seq: number, bytes = 100): AnyEvent {
  const ids = { logId: runId, runId, episodeId: episodeIdFor({ runId, ordinal }) };
  return episodeEvent(ids, 'RewardAssigned', seq, { rationale: 'x'.repeat(bytes) }) as AnyEvent;
}

/** The log's content: each episode's event ids in the order of their first copies. */
async function firstCopies(log: EventLog): Promise<Map<string, string[]>> {
  const seen = new Set<string>();
  const episodes = new Map<string, string[]>();
  for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
    const records = await log.read('trajectories', partition, 0, { maxRecords: 1e6, maxBytes: 1e9 });
    for (const { bytes } of records) {
      const envelope = peekEnvelope(bytes);
      if (!envelope || seen.has(envelope.eventId)) continue;
      seen.add(envelope.eventId);
      episodes.set(envelope.episodeId, [...(episodes.get(envelope.episodeId) ?? []), envelope.eventId]);
    }
  }
  return episodes;
}

function asEpisodes(events: readonly AnyEvent[]): Map<string, string[]> {
  const episodes = new Map<string, string[]>();
  for (const { episodeId, eventId } of events)
    episodes.set(episodeId, [...(episodes.get(episodeId) ?? []), eventId]);
  return episodes;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('TrajectoryWriter on a log that fails', () => {
  let directory: string;
  let log: EventLog;
  let fault: Fault;
  let notices: string[];
  let written: AnyEvent[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'writer-'));
    log = await openLmdbLog({
      path: join(directory, 'log'),
      createdBy: 'test',
      numTrajectoryPartitions: 2,
    });
    fault = 'none';
    notices = [];
    written = [];
  });
  afterEach(async () => {
    await log.close();
    await rm(directory, { recursive: true });
  });

  const spoolDirectory = () => join(directory, 'spool');
  const open = (options: TrajectoryWriterOptions = {}, delayMs?: () => number) =>
    TrajectoryWriter.open(
      faultyLog(log, () => fault, delayMs),
      {
        ...{ lingerMs: 0, awayAfterMs: 200, appendDeadlineMs: 400, drainMs: 50 },
        spool: { directory: spoolDirectory(), maxBytes: 100 * MIB },
        onNotice: (line) => notices.push(line),
        ...options,
      },
    );
  const write = (writer: TrajectoryWriter, event: AnyEvent) => {
    writer.write(event);
    written.push(event);
  };
  /** Events of four episodes in turns. */
  const writeTurns = async (writer: TrajectoryWriter, fromSeq: number, numSeqs: number, bytes = 100) => {
    for (let seq = fromSeq; seq < fromSeq + numSeqs; seq++) {
      for (let episode = 0; episode < 4; episode++) write(writer, eventOf(episode, seq, bytes));
      await writer.betweenTurns();
    }
  };

  it.each<Fault>(['refused', 'lostAnswer', 'hangs', 'landsAndHangs'])(
    'goes on while appends meet "%s", and brings all of it into the log in order once it is back',
    async (kind) => {
      // Long enough that a slow disk is not taken for a log that is unavailable again.
      const isSilent = kind === 'hangs' || kind === 'landsAndHangs';
      const writer = await open({
        awayAfterMs: isSilent ? 1_500 : 10_000,
        appendDeadlineMs: isSilent ? 3_000 : 20_000,
      });
      await writeTurns(writer, 0, 3);
      fault = kind;
      await writeTurns(writer, 3, 20);
      await expect.poll(() => notices.length).toBe(1);
      await writeTurns(writer, 23, 5);
      await expect.poll(() => writer.spoolBytes).toBeGreaterThan(20 * 4 * 100);
      fault = 'none';
      await writeTurns(writer, 28, 3);
      expect(await writer.flush()).toBe(true);
      expect(await firstCopies(log)).toEqual(asEpisodes(written));
      expect(notices).toEqual([
        expect.stringMatching(/^the event log is unavailable, events wait in the spool: /),
        expect.stringMatching(/^the event log is back after [\d.]+ s$/),
      ]);
      expect(await writer.close()).toBe(0);
      expect(writer.takePeakSpoolBytes()).toBeGreaterThan(0);
    },
  );

  /** The end of a round, and where it began. */
  const roundEnd = (text: string) => ({
    last: { stream: 'control', partition: 0, records: [Buffer.from(text)] } as const,
    cursors: [{ group: 'round', stream: 'trajectories', partition: 1, nextOffset: 0 }] as const,
  });
  const controlTexts = async () => {
    const records = await log.read('control', 0, 1);
    return records.map(({ bytes }) => Buffer.from(bytes).toString());
  };

  it('appends a round and its end in one commit', async () => {
    let numCommits = 0;
    const writer = await open({ lingerMs: 10_000, awayAfterMs: 60_000 }, () => {
      numCommits++;
      return 0;
    });
    await writeTurns(writer, 0, 3);
    const { last, cursors } = roundEnd('closed');
    expect(await writer.appendWith(last, cursors)).toBe(true);
    expect(numCommits).toBe(1);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    expect(await controlTexts()).toEqual(['closed']);
    expect(await log.readCursor('round', 'trajectories', 1)).toBe(0);
    expect(await writer.close()).toBe(0);
  });

  it('waits for the appends under way before it appends the rest of a round with its end', async () => {
    const writer = await open({ awayAfterMs: 60_000, appendDeadlineMs: 60_000 }, () => 20);
    await writeTurns(writer, 0, 5);
    const { last, cursors } = roundEnd('closed');
    expect(await writer.appendWith(last, cursors)).toBe(true);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    expect(await controlTexts()).toEqual(['closed']);
  });

  it('takes events of others while a round ends', async () => {
    const timing = { lingerMs: 10_000, awayAfterMs: 60_000, appendDeadlineMs: 60_000 };
    const writer = await open(timing, () => 20);
    await writeTurns(writer, 0, 3);
    const { last, cursors } = roundEnd('closed');
    const ending = writer.appendWith(last, cursors);
    await writeTurns(writer, 3, 40);
    const flushed = writer.flush();
    await writeTurns(writer, 43, 3);
    expect(await ending).toBe(true);
    expect(await flushed).toBe(true);
    expect(await writer.flush()).toBe(true);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
  });

  it.each<Fault>(['refused', 'lostAnswer', 'hangs', 'landsAndHangs'])(
    'says that it is unknown whether a round ended when its append meets "%s", and keeps its events',
    async (kind) => {
      const isSilent = kind === 'hangs' || kind === 'landsAndHangs';
      const writer = await open({ lingerMs: 10_000, awayAfterMs: isSilent ? 200 : 60_000 });
      await writeTurns(writer, 0, 3);
      fault = kind;
      const { last, cursors } = roundEnd('closed');
      expect(await writer.appendWith(last, cursors)).toBe(false);
      const landed = kind === 'refused' || kind === 'hangs' ? [] : ['closed'];
      await expect.poll(controlTexts).toEqual(landed);
      fault = 'none';
      expect(await writer.flush()).toBe(true);
      expect(await firstCopies(log)).toEqual(asEpisodes(written));
    },
  );

  it('holds turns of a log that is merely slow, and uses no disk for it', async () => {
    const writer = await open(
      { awayAfterMs: 10_000, appendDeadlineMs: 20_000, maxMemoryBytes: MIB },
      () => 30,
    );
    const bytes = 100_000;
    let mostBytes = 0;
    for (let seq = 0; seq < 40; seq++) {
      await writeTurns(writer, seq, 1, bytes);
      mostBytes = Math.max(mostBytes, writer.memoryBytes);
    }
    expect(mostBytes).toBeLessThanOrEqual(MIB + 4 * 1.1 * bytes);
    expect(writer.takeWaitedSeconds()).toBeGreaterThan(0.2);
    expect(await writer.flush()).toBe(true);
    expect(writer.takePeakSpoolBytes()).toBe(0);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    await writer.close();
  });

  it('holds turns when the spool is full, says so in one line, drops nothing, and goes on when the log is back', async () => {
    const maxBytes = 300_000;
    const writer = await open({
      spool: { directory: spoolDirectory(), maxBytes },
      maxMemoryBytes: 100_000,
      // Only a refused append counts as an unavailable log here: a machine under load does not.
      ...{ awayAfterMs: 10_000, appendDeadlineMs: 20_000 },
    });
    fault = 'refused';
    let numTurns = 0;
    const playing = (async () => {
      for (; numTurns < 50; numTurns++) await writeTurns(writer, numTurns, 1, 10_000);
    })();
    await expect.poll(() => notices.length).toBe(2);
    await sleep(200);
    const numHeld = numTurns;
    await sleep(200);
    expect(numTurns).toBe(numHeld);
    expect(numHeld).toBeLessThan(15);
    expect(writer.spoolBytes).toBeLessThanOrEqual(maxBytes);
    expect(notices[1]).toMatch(
      /^episodes are paused until the event log is back: the spool holds \d+ of 300000 bytes$/,
    );
    fault = 'none';
    await playing;
    expect(await writer.flush()).toBe(true);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    expect(notices).toHaveLength(3);
    await writer.close();
  });

  it('asked to stop while the log is unavailable, leaves unacknowledged events to the next writer, in time', async () => {
    const stop = new AbortController();
    const writer = await open({ signal: stop.signal });
    await writeTurns(writer, 0, 2);
    fault = 'hangs';
    await writeTurns(writer, 2, 10);
    const flushing = writer.flush();
    stop.abort();
    const started = performance.now();
    expect(await flushing).toBe(false);
    expect(await writer.close()).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(10_000);

    fault = 'none';
    const next = await open();
    expect(notices.at(-1)).toMatch(/^appending \d+ events from the spool$/);
    await writeTurns(next, 12, 2);
    expect(await next.flush()).toBe(true);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    expect(await next.close()).toBe(0);
  });

  it('loses nothing that a process which died without closing had spooled, and cuts off a damaged end', async () => {
    // What it writes to stays away for it: a writer that goes on would take its records out of the file.
    const dead = await TrajectoryWriter.open(
      faultyLog(log, () => 'refused'),
      { lingerMs: 0, spool: { directory: spoolDirectory(), maxBytes: MIB } },
    );
    await writeTurns(dead, 0, 10);
    await expect.poll(() => dead.memoryBytes).toBe(0);
    let numTorn = 0;
    // Of few episodes, all may be of one partition.
    for (const partition of ['0', '1']) {
      const folder = join(spoolDirectory(), partition);
      for (const name of await readdir(folder)) {
        await appendFile(join(folder, name), 'torn');
        numTorn++;
      }
    }
    expect(numTorn).toBeGreaterThan(0);

    const next = await TrajectoryWriter.open(log, {
      spool: { directory: spoolDirectory(), maxBytes: MIB },
      onNotice: (line) => notices.push(line),
    });
    expect(notices.at(-1)).toBe(
      `appending 40 events from the spool; cut ${4 * numTorn} damaged bytes off its end`,
    );
    expect(await next.flush()).toBe(true);
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    await next.close();
    await dead.close().catch(() => undefined);
  });

  it('refuses an event that is too large, names both sizes, and goes on', async () => {
    const small = overriding(log, { maxEventBytes: 1_000 });
    const writer = await TrajectoryWriter.open(small);
    expect(() => {
      writer.write(eventOf(0, 0, 2_000));
    }).toThrow(/RewardAssigned of episode .*, seq 0, has \d{4} bytes; must have at most 1000/);
    write(writer, eventOf(0, 0));
    await writer.flush();
    expect(await firstCopies(log)).toEqual(asEpisodes(written));
    await writer.close();
  });

  it('brings every event into the log, each episode in order, whatever fails and whoever takes over', async () => {
    const faults = fc.constantFrom<Fault>('none', 'none', 'refused', 'lostAnswer', 'hangs', 'landsAndHangs');
    const turn = fc.record({
      faults: fc.array(faults, { maxLength: 3 }),
      bytes: fc.nat(3_000),
      restart: fc.nat(9),
    });
    let episodeBase = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 12 }), async (turns) => {
        episodeBase += 4;
        const script: Fault[] = [];
        const options: TrajectoryWriterOptions = {
          ...{
            lingerMs: 0,
            awayAfterMs: 2,
            // Longer than an append takes on a machine under load, or none would ever count as made.
            appendDeadlineMs: 100,
            retryAfterMs: 1,
            maxBatchBytes: 2_000,
            maxMemoryBytes: 10_000,
          },
          spool: { directory: spoolDirectory(), maxBytes: 30_000 },
        };
        const openNext = () =>
          TrajectoryWriter.open(
            faultyLog(log, () => script.shift() ?? 'none'),
            options,
          );
        let writer = await openNext();
        const events: AnyEvent[] = [];
        for (const [seq, { faults, bytes, restart }] of turns.entries()) {
          script.push(...faults);
          for (let episode = 0; episode < 4; episode++) {
            const event = eventOf(episodeBase + episode, seq, bytes);
            writer.write(event);
            events.push(event);
          }
          await writer.betweenTurns();
          if (restart === 0) {
            await writer.close();
            writer = await openNext();
          }
        }
        expect(await writer.flush()).toBe(true);
        expect(await writer.close()).toBe(0);
        const stored = await firstCopies(log);
        for (const [episodeId, eventIds] of asEpisodes(events))
          expect(stored.get(episodeId)).toEqual(eventIds);
      }),
      { numRuns: 8 },
    );
  });
});
