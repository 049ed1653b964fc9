import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbLog } from './lmdb/open-lmdb-log.js';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { ControlTail } from './control-tail.js';
import { LogError } from './log-error.js';
import type { EventLog } from './event-log.js';
import { overriding } from './testing/overriding.js';
import { faultyLog, type Fault } from './testing/faulty-log.js';
import { newRunId } from '@retrace/trajectory';
import { PatientLog } from './patient-log.js';

const runId = newRunId();
const metrics = {
  kind: 'MetricsLogged',
  payload: { source: 'collector', step: 0, names: ['a'], values: Float64Array.of(1) },
} as const;

describe('PatientLog', () => {
  let directory: string;
  let log: EventLog;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patient-'));
    log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test' });
  });
  afterEach(async () => {
    await log.close();
    await rm(directory, { recursive: true });
  });

  it('repeats a control append under the same event id until it is acknowledged', async () => {
    const faults: Fault[] = ['lostAnswer', 'refused', 'lostAnswer'];
    const notices: string[] = [];
    const patient = new PatientLog(
      faultyLog(log, () => faults.shift() ?? 'none'),
      { signal: new AbortController().signal, onNotice: (line) => notices.push(line) },
    );
    await new ControlTail(patient).append(runId, metrics);
    // Record 0 is `LogOpened`; two copies landed unacknowledged, the third is acknowledged.
    const ids = (await log.read('control', 0, 1)).map(({ bytes }) => peekEnvelope(bytes)?.eventId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
    expect(notices).toEqual(['waits for the event log: the broker is away', 'the event log answers again']);
  });

  it('fails with the reason when patienceMs is over', async () => {
    const patient = new PatientLog(
      faultyLog(log, () => 'refused'),
      { signal: new AbortController().signal, patienceMs: 200 },
    );
    await expect(new ControlTail(patient).append(runId, metrics)).rejects.toMatchObject({
      code: 'LOG_UNREACHABLE',
      message: 'the event log did not answer for 0 s: the broker is away',
    });
  });

  it('fails immediately with an error that a retry can’t help', async () => {
    await log.close();
    const patient = new PatientLog(log, { signal: new AbortController().signal });
    await expect(patient.read('control', 0, 0)).rejects.toMatchObject({ code: 'LOG_CLOSED' });
  });

  it.each<Fault>(['refused', 'hangs'])(
    'fails in time after the signal has aborted, while appends meet fault "%s"',
    async (fault) => {
      const stop = new AbortController();
      const patient = new PatientLog(
        faultyLog(log, () => fault),
        { signal: stop.signal, drainMs: 50 },
      );
      const appending = new ControlTail(patient).append(runId, metrics);
      const started = performance.now();
      setTimeout(() => {
        stop.abort();
      }, 20);
      await expect(appending).rejects.toBeInstanceOf(LogError);
      expect(performance.now() - started).toBeLessThan(5_000);
    },
  );

  it('lets an unfinished call finish after the signal has aborted', async () => {
    const stop = new AbortController();
    const slow = faultyLog(
      log,
      () => 'none',
      () => 50,
    );
    const appending = new ControlTail(new PatientLog(slow, { signal: stop.signal })).append(runId, metrics);
    stop.abort();
    await appending;
    expect(await log.read('control', 0, 1)).toHaveLength(1);
  });

  it('close ends in time after the signal has aborted, though the log still retries an append', async () => {
    const stop = new AbortController();
    const busy = overriding(log, { close: () => new Promise<void>(() => undefined) });
    const patient = new PatientLog(busy, { signal: stop.signal, drainMs: 50 });
    stop.abort();
    const started = performance.now();
    await patient.close();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
