import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trajectoriesStored } from '@retrace/log';
import { appendEvents, overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { untilVisible } from '../catch-up/until-visible.js';
import { StoreError } from '../client/store-error.js';
import type { SinkOptions } from './sink-options.js';
import { Sink, type SinkRun } from './sink.js';

const FAST: SinkOptions = { lingerMs: 5, minInsertIntervalMs: 10, minBackoffMs: 10, maxBackoffMs: 50 };

describe('Sink', () => {
  let store: StoreFixture;
  let stop: AbortController;
  let running: Promise<void>[];

  beforeEach(async () => {
    store = await openStoreFixture();
    stop = new AbortController();
    running = [];
  });

  afterEach(async () => {
    stop.abort();
    await Promise.allSettled(running);
    await store.close();
  });

  function startSink(options: SinkOptions = FAST, run: Partial<SinkRun> = {}): Sink {
    const sink = new Sink(options);
    running.push(sink.run({ log: store.log, client: store.client, signal: stop.signal, ...run }));
    return sink;
  }

  async function catchUp(sink: Sink): Promise<void> {
    for (const { stream, partition } of sink.progress().partitions) {
      const endOffset = await store.log.endOffset(stream, partition);
      if (endOffset > 0) await sink.caughtUpTo(stream, partition, endOffset - 1);
    }
  }

  async function count(sql: string): Promise<number> {
    const [row] = await store.client.queryRows<{ n: number }>(
      `SELECT ${sql} AS n FROM events WHERE kind NOT LIKE '\\_%'`,
    );
    return row.n;
  }

  it('writes every record of every partition, and reports its progress', async () => {
    const runId = newRunId();
    const { logId } = store.log;
    const sink = startSink();
    await appendEvents(store.log, [controlEvent({ logId, runId }, 'RunStarted')]);
    // So many that no partition goes without one.
    const numEpisodes = 64;
    for (let ordinal = 0; ordinal < numEpisodes; ordinal++) {
      await appendEvents(store.log, episodeEvents({ logId, runId, ordinal }));
    }
    await catchUp(sink);

    // LogOpened, RunStarted, and episodes of a start, 3 steps and an end.
    const numEvents = 2 + 5 * numEpisodes;
    expect(await count('count()')).toBe(numEvents);
    expect(await count('uniqExact(event_id)')).toBe(numEvents);
    const { partitions } = sink.progress();
    expect(partitions.map(({ stream }) => stream)).toEqual(['control', 'trajectories', 'trajectories']);
    expect(partitions.reduce((sum, { numRows }) => sum + numRows, 0)).toBe(numEvents);
    for (const progress of partitions) {
      expect(progress).toMatchObject({
        state: 'running',
        lag: 0,
        numDeadLetters: 0,
        numMissingOffsets: 0,
        lastFailure: null,
      });
      expect(progress.visibleAfterMs?.p50).toBeLessThan(5_000);
    }
  });

  it('lets records linger, also behind a control event, until a reader says that it waits for them', async () => {
    const ids = { logId: store.log.logId, runId: newRunId() };
    const sink = startSink({ ...FAST, lingerMs: 600_000 });
    await appendEvents(store.log, [controlEvent(ids, 'RunStarted')]);
    const { partition, lastOffset } = await appendEvents(store.log, episodeEvents({ ...ids, ordinal: 0 }));
    await appendEvents(store.log, [controlEvent(ids, 'GroupsClosed')]);
    await setTimeout(300);
    expect(await count('count()')).toBe(0);
    const timeoutMs = 600_000;
    const { signal } = stop;
    expect(await trajectoriesStored(store.log, { timeoutMs, signal })).toBe(true);
    await sink.caughtUpTo('trajectories', partition, lastOffset);
    // It speaks for what it waits for, not for what comes later.
    await appendEvents(store.log, episodeEvents({ ...ids, ordinal: 1 }));
    await setTimeout(300);
    expect(sink.progressOf('trajectories', partition).nextOffset).toBe(lastOffset + 1);
    await untilVisible(store.log, store.client, { stallMs: 600_000 });
    expect(await count('count()')).toBe(2 + 2 * 5 + 1);
  });

  it('makes a dead letter of a record that holds no event, and rows of its neighbours', async () => {
    const runId = newRunId();
    const [first, second] = episodeEvents({ logId: store.log.logId, runId, ordinal: 0 });
    await appendEvents(store.log, [controlEvent({ logId: store.log.logId, runId }, 'RunStarted')]);
    const sink = startSink();
    const { partition } = await appendEvents(store.log, [first]);
    await store.log.append('trajectories', partition, [Uint8Array.of(1, 2, 255)]);
    await appendEvents(store.log, [second]);
    await catchUp(sink);

    expect(await count('count()')).toBe(4);
    const letters = await store.client.queryRows(
      'SELECT log_stream, log_partition, log_offset, code, reason, size_bytes, hex(raw) AS bytes FROM dead_letters',
    );
    expect(letters).toEqual([
      {
        log_stream: 'trajectories',
        log_partition: partition,
        log_offset: 1,
        code: 'NOT_AN_EVENT',
        reason: 'record has 3 bytes; must have at least 8',
        size_bytes: 3,
        bytes: '0102FF',
      },
    ]);
  });

  it('continues after the last offset in the store, whichever sink wrote it', async () => {
    const runId = newRunId();
    const { logId } = store.log;
    const first = startSink();
    await appendEvents(store.log, episodeEvents({ logId, runId, ordinal: 0 }));
    await catchUp(first);
    stop.abort();
    await Promise.all(running);

    await appendEvents(store.log, episodeEvents({ logId, runId, ordinal: 1 }));
    stop = new AbortController();
    const second = startSink();
    await catchUp(second);
    expect(await count('count()')).toBe(11);
    expect(second.progress().partitions.reduce((sum, { numRows }) => sum + numRows, 0)).toBe(5);
  });

  it('makes one part of each batch, however large', async () => {
    const runId = newRunId();
    const { logId } = store.log;
    // 2,400 records, 10 MB as rows: more than the engine's block sizes leave together.
    for (let round = 0; round < 30; round++) {
      const episodes = Array.from({ length: 10 }, (_, i) =>
        episodeEvents({ logId, runId, ordinal: 10 * round + i, numSteps: 6, numTokens: 512 }),
      );
      await Promise.all(episodes.map((events) => appendEvents(store.log, events)));
    }
    await store.client.command('SYSTEM STOP MERGES');
    // About 1,200 records lie in each partition; a batch waits until it is full, however slow the machine is.
    const maxBatchRecords = 800;
    const sink = startSink({ ...FAST, lingerMs: 600_000, maxBatchRecords, maxBatchBytes: 256 * 1024 * 1024 });
    const inserts = () => sink.progress().partitions.slice(1);
    await expect
      .poll(() => inserts().map(({ numInserts }) => numInserts), { timeout: 250_000 })
      .toEqual([1, 1]);
    const parts = await store.client.queryRows<{ numParts: number; numRows: number }>(
      `SELECT uniqExact(_part) AS numParts, count() AS numRows FROM events WHERE log_stream = 'trajectories' AND kind NOT LIKE '\\_%'
       GROUP BY log_partition`,
    );
    expect(parts).toEqual([1, 1].map((numParts) => ({ numParts, numRows: maxBatchRecords })));
  });

  it('stops a partition whose insert became several parts, and reports INSERT_NOT_ATOMIC', async () => {
    const runId = newRunId();
    const { logId } = store.log;
    await store.client.command('SYSTEM STOP MERGES');
    await appendEvents(store.log, episodeEvents({ logId, runId, ordinal: 0, numSteps: 40 }));
    let numInserts = 0;
    const splitting = overriding(store.client, {
      insertArrow: async (insert) => {
        const staging = `staging_${++numInserts}`;
        await store.client.command(`CREATE TABLE ${staging} AS events`);
        await store.client.insertArrow({ ...insert, table: staging });
        await store.client.command(`INSERT INTO events SELECT * FROM ${staging} WHERE log_offset < 20`);
        await store.client.command(`INSERT INTO events SELECT * FROM ${staging} WHERE log_offset >= 20`);
      },
    });
    // Long enough for all of them to go in one insert: of a small one no part is looked for behind a larger one that was whole.
    const sink = startSink({ ...FAST, lingerMs: 1_000 }, { client: splitting });
    await expect(catchUp(sink)).rejects.toMatchObject({ code: 'INSERT_NOT_ATOMIC', retriable: false });
  });

  it('reports the other log ids in the store when a new log starts', async () => {
    await store.client.command(
      "INSERT INTO events (log_id, log_stream, log_partition, log_offset, kind) VALUES ('before', 'control', 0, 0, 'LogOpened')",
    );
    const sink = startSink();
    await catchUp(sink);
    expect(sink.progress().partitions[0].otherLogIds).toEqual(['before']);
  });

  it('stops a partition where the store is ahead of the log, continues the others, and resumes it once the log is repaired', async () => {
    const { logId } = store.log;
    await store.client.command(
      "INSERT INTO events (log_id, log_stream, log_partition, log_offset, kind) VALUES ({logId:String}, 'trajectories', 1, 41, '_watermark')",
      { params: { logId } },
    );
    const notices: string[] = [];
    const sink = startSink({ ...FAST, failedRetryMs: 50 }, { onNotice: (line) => notices.push(line) });
    const runId = newRunId();
    await appendEvents(store.log, [controlEvent({ logId, runId }, 'RunStarted')]);
    const records = (ordinal: number) => episodeEvents({ logId, runId, ordinal }).map(encodeEvent);
    await store.log.append('trajectories', 0, records(0));
    await store.log.append('trajectories', 1, records(1));
    await sink.caughtUpTo('trajectories', 0, 4);
    await sink.caughtUpTo('control', 0, 1);
    await expect.poll(() => notices.length).toBeGreaterThan(0);
    expect(notices[0]).toMatch(
      /^Partition 1 of stream trajectories failed \(LOG_BEHIND_STORE\) and is retried in 0\.05 s; the other partitions continue: In partition 1 of stream trajectories the log ends at \d+, the store holds records up to 42/,
    );
    expect(sink.progressOf('trajectories', 1)).toMatchObject({
      state: 'failed',
      lastFailure: { message: expect.stringContaining('the log lost some') as string },
    });
    await expect(sink.caughtUpTo('trajectories', 1, 4)).rejects.toMatchObject({ code: 'LOG_BEHIND_STORE' });
    await store.client.command("DELETE FROM events WHERE log_partition = 1 AND kind = '_watermark'", {
      settings: { lightweight_deletes_sync: '2' },
    });
    await expect.poll(() => sink.progressOf('trajectories', 1).nextOffset).toBe(5);
    expect(sink.progressOf('trajectories', 1).state).toBe('running');
  });

  it('rejects when no partition can continue, because the log has dropped records that the store lacks', async () => {
    const truncated = overriding(store.log, { startOffset: () => Promise.resolve(3) });
    await expect(
      new Sink(FAST).run({ log: truncated, client: store.client, signal: stop.signal }),
    ).rejects.toMatchObject({
      code: 'LOG_TRUNCATED',
      retriable: false,
    });
  });

  it('reads its position again after an insert with an unknown outcome', async () => {
    const runId = newRunId();
    const { logId } = store.log;
    let numInserts = 0;
    // Takes effect, and the answer is lost: every other time.
    const flaky = overriding(store.client, {
      insertArrow: async (insert) => {
        await store.client.insertArrow(insert);
        if (numInserts++ % 2 === 0)
          throw new StoreError('STORE_UNAVAILABLE', 'connection reset', { retriable: true });
      },
    });
    const sink = startSink(FAST, { client: flaky });
    for (let ordinal = 0; ordinal < 6; ordinal++) {
      await appendEvents(store.log, episodeEvents({ logId, runId, ordinal }));
      await catchUp(sink);
    }
    expect(numInserts).toBeGreaterThan(2);
    expect(await count('count()')).toBe(31);
    expect(await count('uniqExact(event_id)')).toBe(31);
    expect(sink.progress().partitions.some(({ lastFailure }) => lastFailure !== null)).toBe(true);
  });

  it(
    'writes each record once in reads, also with another sink on the same partitions',
    { tags: 'release' },
    async () => {
      const runId = newRunId();
      const { logId } = store.log;
      await appendEvents(store.log, [controlEvent({ logId, runId }, 'RunStarted')]);
      const sinks = [startSink({ ...FAST, maxBatchRecords: 7 }), startSink({ ...FAST, maxBatchRecords: 5 })];
      for (let ordinal = 0; ordinal < 20; ordinal++) {
        await appendEvents(store.log, episodeEvents({ logId, runId, ordinal }));
      }
      await Promise.all(sinks.map(catchUp));
      expect(await count('uniqExact(event_id)')).toBe(102);
      const [{ steps }] = await store.client.queryRows<{ steps: number }>(
        'SELECT count() AS steps FROM steps',
      );
      const [{ episodes }] = await store.client.queryRows<{ episodes: number }>(
        'SELECT count() AS episodes FROM episodes',
      );
      expect({ steps, episodes }).toEqual({ steps: 60, episodes: 20 });
      await store.client.command('OPTIMIZE TABLE events FINAL');
      expect(await count('count()')).toBe(102);
    },
  );

  it('rejects waits for an offset when it stops, and when their signal aborts', async () => {
    const sink = startSink();
    const late = sink.caughtUpTo('trajectories', 0, 1_000);
    const timedOut = sink.caughtUpTo('trajectories', 0, 1_000, { signal: AbortSignal.timeout(20) });
    await expect(timedOut).rejects.toMatchObject({ name: 'TimeoutError' });
    stop.abort();
    await expect(late).rejects.toMatchObject({ code: 'NOT_YET_VISIBLE', retriable: true });
    await expect(sink.caughtUpTo('trajectories', 9, 0)).rejects.toThrow(RangeError);
  });
});
