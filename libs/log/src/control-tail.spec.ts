import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbLog } from './lmdb/open-lmdb-log.js';
import { ControlTail } from './control-tail.js';
import type { EventLog } from './event-log.js';
import { sampleControlEvent } from '@retrace/trajectory/testing';

const { runId, payload: started } = sampleControlEvent('RunStarted');
const claim = { kind: 'TrainerClaimed', payload: { epoch: 1, trainerId: 'a' } } as const;

describe('ControlTail', () => {
  let path: string;
  let log: EventLog;
  let tail: ControlTail;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'retrace-tail-'));
    log = await openLmdbLog({ path, createdBy: 'tail test' });
    tail = new ControlTail(log);
  });
  afterEach(async () => {
    tail.close();
    await log.close();
    await rm(path, { recursive: true, force: true });
  });

  it('catchUp folds the events that another tail appended', async () => {
    const writer = new ControlTail(log);
    await writer.append(runId, { kind: 'RunStarted', payload: started }, claim);
    await tail.catchUp();
    expect(tail.run(runId).started).toEqual(started);
    expect(tail.run(runId).updates.claim).toMatchObject({ epoch: 1 });
    writer.close();
  });

  it('appends the entries of one call at consecutive offsets, and nothing without entries', async () => {
    await tail.append(runId);
    await tail.append(runId, { kind: 'RunStarted', payload: started }, claim);
    expect(await log.endOffset('control', 0)).toBe(3);
  });

  it('names an unknown run in the error', () => {
    expect(() => tail.run(runId)).toThrow(expect.objectContaining({ code: 'UNKNOWN_RUN' }) as Error);
  });

  it('skips a record that is not an event', async () => {
    await log.append('control', 0, [new TextEncoder().encode('no event')]);
    await tail.append(runId, { kind: 'RunStarted', payload: started });
    await tail.catchUp();
    expect(tail.state.nextOffset).toBe(3);
    expect(tail.run(runId).started).toEqual(started);
  });

  it('changed resolves when a new record was folded, and folds no record twice', async () => {
    await tail.catchUp();
    const changed = tail.changed(new AbortController().signal);
    await tail.append(runId, { kind: 'RunStarted', payload: started });
    await changed;
    expect(tail.run(runId).started).toEqual(started);
    await tail.append(runId, claim);
    await tail.catchUp();
    await tail.append(runId, { kind: 'RunEnded', payload: { reason: 'stopped', detail: '', numUpdates: 0 } });
    await tail.changed(new AbortController().signal);
    expect(tail.run(runId).ended).toMatchObject({ reason: 'stopped' });
  });

  it('changed resolves when the signal aborts, and leaves no listener behind', async () => {
    const aborting = new AbortController();
    await tail.catchUp();
    const changed = tail.changed(aborting.signal);
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(1);
    aborting.abort();
    await changed;
    await tail.changed(aborting.signal);
    expect(getEventListeners(aborting.signal, 'abort')).toHaveLength(0);
    // A record that arrives after the abort is not lost.
    await tail.append(runId, { kind: 'RunStarted', payload: started });
    await tail.changed(new AbortController().signal);
    expect(tail.run(runId).started).toEqual(started);
  });
});
