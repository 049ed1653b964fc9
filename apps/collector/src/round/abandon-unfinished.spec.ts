import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectorCursor, markRunStart, roundStarts, trajectoryEnds, type EventLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents, overriding } from '@retrace/log/testing';
import { closeTogether, ControlFold, episodeIdFor, newRunId, type ClosedGroup } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { abandonUnfinished } from './abandon-unfinished.js';

describe('abandonUnfinished', () => {
  async function open() {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-abandon-'));
    const log = await openLmdbLog({ path: directory, createdBy: 'test' });
    onTestFinished(async () => {
      await log.close();
      rmSync(directory, { recursive: true });
    });
    const ids = { logId: log.logId, runId: newRunId() };
    const fold = new ControlFold();
    fold.apply(controlEvent(ids, 'RunStarted'), 0);
    const run = fold.run(ids.runId);
    if (run === undefined) throw new Error('the fold does not know its run');
    const offsets: number[] = [];
    const watched = overriding<EventLog>(log, {
      read: (stream, partition, offset, options) => {
        offsets.push(offset);
        return log.read(stream, partition, offset, options);
      },
    });
    const abandon = async () =>
      abandonUnfinished(watched, run, {
        of: { index: 0, count: 1 },
        ends: await trajectoryEnds(log),
        occurredAtUs: Date.now() * 1000,
      });
    return { log, ids, fold, offsets, abandon };
  }

  /** A start and three steps. */
  const opened = (ids: { logId: string; runId: string }) => episodeEvents({ ...ids, ordinal: 0 }).slice(0, 4);
  const closedGroup = (episodeId: string): ClosedGroup => ({
    ...{ groupId: 'group-0', round: 0, split: 'train', reason: 'complete', groupSize: 1 },
    ...{ episodeIds: [episodeId], numSteps: Int32Array.of(3), trainable: true },
    ...{ policyVersionMin: 0, policyVersionMax: 0 },
  });
  const others = (log: EventLog) => episodeEvents({ logId: log.logId, runId: newRunId(), ordinal: 0 });

  it('reads nothing of what the log had when the run began, where no round was begun', async () => {
    const { log, ids, offsets, abandon } = await open();
    await appendEvents(log, others(log));
    await markRunStart(log, ids.runId);
    await expect(abandon()).resolves.toBeNull();
    expect(offsets).toEqual([]);
  });

  it('seals an episode that was left open in the first round, whose place is not remembered', async () => {
    const { log, ids, offsets, abandon } = await open();
    await appendEvents(log, others(log));
    await markRunStart(log, ids.runId);
    await appendEvents(log, opened(ids));
    await expect(abandon()).resolves.toMatchObject({
      episodeIds: [episodeIdFor({ runId: ids.runId, ordinal: 0 })],
    });
    expect(Math.min(...offsets)).toBe(5);
    expect(await log.endOffset('trajectories', 0)).toBe(5 + 4 + 1);
  });

  it('reads the last round that has ended, too, and abandons nothing of it', async () => {
    const { log, ids, fold, offsets, abandon } = await open();
    await markRunStart(log, ids.runId);
    await appendEvents(log, others(log));
    const ends = await trajectoryEnds(log);
    const whole = episodeEvents({ ...ids, ordinal: 0 });
    await appendEvents(log, whole);
    await log.appendInStages([], roundStarts(collectorCursor(ids.runId, 0), ends));
    const closed = closeTogether([closedGroup(whole[0].episodeId)]);
    fold.apply(controlEvent(ids, 'GroupsClosed', closed), 1);
    await appendEvents(log, episodeEvents({ ...ids, ordinal: 2 }).slice(0, 4));
    await expect(abandon()).resolves.toMatchObject({
      episodeIds: [episodeIdFor({ runId: ids.runId, ordinal: 2 })],
    });
    expect(Math.min(...offsets)).toBe(ends[0]);
  });

  it('finds it, too, in a run of which it is not remembered where it began', async () => {
    const { log, ids, abandon } = await open();
    await appendEvents(log, opened(ids));
    await expect(abandon()).resolves.toMatchObject({
      episodeIds: [episodeIdFor({ runId: ids.runId, ordinal: 0 })],
    });
  });
});
