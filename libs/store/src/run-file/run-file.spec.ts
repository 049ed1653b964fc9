import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecordBatchStreamWriter, tableFromIPC } from 'apache-arrow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog, LogRecord } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { type AnyEvent, newRunId, type StepRecorded } from '@retrace/trajectory';
import { decodeEvent, encodeEvent, frame, messagePack } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { exportRun } from './export-run.js';
import { checkRunFile, importRun } from './import-run.js';
import { RunFileError } from './run-file-error.js';

describe('exportRun and importRun', () => {
  let directory: string;
  let log: EventLog;
  let path: string;
  const runId = newRunId();
  const otherRunId = newRunId();
  const checkpoint = Uint8Array.from({ length: 10_000 }, (_, i) => (i * 31) % 251);
  const sha256 = createHash('sha256').update(checkpoint).digest('hex');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-run-file-'));
    path = join(directory, 'run.arrows');
    log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test', numTrajectoryPartitions: 3 });
    for (const id of [runId, otherRunId]) {
      const ids = { logId: log.logId, runId: id };
      await appendEvents(log, [controlEvent(ids, 'RunStarted'), controlEvent(ids, 'MetricsLogged')]);
      for (let ordinal = 0; ordinal < 4; ordinal++)
        await appendEvents(log, episodeEvents({ ...ids, ordinal }));
      await appendEvents(log, [controlEvent(ids, 'RunEnded')]);
    }
  });

  afterEach(async () => {
    await log.close();
    await rm(directory, { recursive: true });
  });

  async function* checkpoints() {
    yield { sha256, bytes: checkpoint };
  }

  /** The run's events in order: control, then by episode. */
  async function eventsOf(source: EventLog): Promise<AnyEvent[]> {
    const records: LogRecord[] = [];
    for (const stream of ['control', 'trajectories'] as const) {
      for (let partition = 0; partition < source.numPartitions(stream); partition++) {
        records.push(...(await source.read(stream, partition, 0)));
      }
    }
    return records
      .map(({ bytes }) => decodeEvent(bytes))
      .flatMap((decoded) => (decoded.ok && decoded.event.runId === runId ? [decoded.event] : []))
      .sort((a, b) => (a.episodeId < b.episodeId ? -1 : a.episodeId > b.episodeId ? 1 : 0));
  }

  it('copy a run event for event into another log, with its checkpoint files', async () => {
    const report = await exportRun({ log, runId, path, checkpoints: checkpoints(), rowHash: 'abc' });
    expect(report).toMatchObject({ runId, numEvents: 3 + 4 * 5, numCheckpointFiles: 1, numDeadLetters: 0 });
    expect(await checkRunFile(path)).toEqual({ ...report, numDeadLetters: undefined, rowHash: 'abc' });

    const target = await openLmdbLog({
      path: join(directory, 'target'),
      createdBy: 'test',
      numTrajectoryPartitions: 2,
    });
    const written: Uint8Array[] = [];
    await importRun({ log: target, path, writeCheckpoint: async (bytes) => void written.push(bytes) });
    const expected = (await eventsOf(log)).map((event) => ({ ...event, logId: target.logId }));
    expect(await eventsOf(target)).toEqual(expected);
    expect(written.map((bytes) => Buffer.from(bytes))).toEqual([Buffer.from(checkpoint)]);
    await target.close();
  });

  it('write an Arrow stream with metadata', async () => {
    await exportRun({ log, runId, path, checkpoints: checkpoints() });
    const table = tableFromIPC(await readFile(path));
    expect(table.schema.metadata.get('retrace.runId')).toBe(runId);
    expect(table.toArray().map((row) => String((row as { kind: unknown }).kind))).toEqual([
      'RunStarted',
      'MetricsLogged',
      'RunEnded',
      ...(await kindsOfEpisodes()),
      '_checkpoint',
      '_end',
    ]);
  });

  async function kindsOfEpisodes(): Promise<string[]> {
    const kinds: string[] = [];
    for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
      for (const { bytes } of await log.read('trajectories', partition, 0)) {
        const decoded = decodeEvent(bytes);
        if (decoded.ok && decoded.event.runId === runId) kinds.push(decoded.event.kind);
      }
    }
    return kinds;
  }

  it('leave out records that hold no event, and report their number', async () => {
    const [, step] = episodeEvents({ logId: log.logId, runId, ordinal: 9 });
    const bad = { ...step, payload: { ...(step.payload as StepRecorded), step: 5 } };
    const { eventId, kind, logId, episodeId, seq, occurredAtUs, payload } = bad;
    const ids = [eventId, logId, runId, episodeId].map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'));
    await log.append('trajectories', 0, [
      frame(messagePack.pack([kind, 1, ...ids, seq, occurredAtUs, payload])),
      Uint8Array.of(1, 2),
    ]);
    expect(await exportRun({ log, runId, path })).toMatchObject({ numEvents: 3 + 4 * 5, numDeadLetters: 1 });
  });

  it('refuse a run that the log does not have, and leave no file', async () => {
    await expect(exportRun({ log, runId: newRunId(), path })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
    expect((await readdir(directory)).sort()).toEqual(['log']);
  });

  it('refuse every file that was cut off', async () => {
    await exportRun({ log, runId, path, checkpoints: checkpoints() });
    const bytes = await readFile(path);
    for (let i = 0; i < 60; i++) {
      const length = Math.floor((i * (bytes.length - 9)) / 59);
      await writeFile(path, bytes.subarray(0, length));
      await expect(checkRunFile(path), `${length} bytes`).rejects.toBeInstanceOf(RunFileError);
    }
  });

  it('refuse a file in which any byte was changed, except padding', async () => {
    await exportRun({ log, runId, path, checkpoints: checkpoints() });
    const bytes = await readFile(path);
    const sound = await rowsOf(bytes);
    for (let at = 0; at < bytes.length; at += 97) {
      const changed = Buffer.from(bytes);
      changed[at] ^= 0x55;
      await writeFile(path, changed);
      const outcome = await checkRunFile(path).catch((error: unknown) => error);
      if (outcome instanceof RunFileError) continue;
      // A byte of padding, or of what Arrow says of itself and nobody reads.
      expect(await rowsOf(changed), `byte ${at}: ${outcome}`).toEqual(sound);
    }
  });

  async function rowsOf(bytes: Uint8Array): Promise<unknown> {
    return JSON.parse(JSON.stringify(tableFromIPC(bytes).toArray())) as unknown;
  }

  it('refuse other files, other versions and events of later code', async () => {
    await writeFile(path, 'no Arrow at all');
    await expect(checkRunFile(path)).rejects.toMatchObject({ code: 'RUN_FILE_UNKNOWN' });
    await expect(checkRunFile(`${path}.missing`)).rejects.toMatchObject({ code: 'ENOENT' });
    await exportRun({ log, runId, path });
    const rewrite = async (change: (metadata: Map<string, string>) => void): Promise<void> => {
      await exportRun({ log, runId, path });
      const table = tableFromIPC(await readFile(path));
      change(table.schema.metadata as Map<string, string>);
      await writeFile(path, RecordBatchStreamWriter.writeAll(table.batches).toUint8Array(true));
    };
    await rewrite((metadata) => metadata.delete('retrace.format'));
    await expect(checkRunFile(path)).rejects.toMatchObject({ code: 'RUN_FILE_UNKNOWN' });
    await rewrite((metadata) => metadata.set('retrace.version', '2'));
    await expect(checkRunFile(path)).rejects.toMatchObject({
      code: 'RUN_FILE_VERSION',
      message: expect.stringContaining(
        'has format version 2; this version of Retrace reads only format version 1',
      ) as string,
    });
    await rewrite((metadata) => metadata.set('retrace.runId', otherRunId));
    await expect(checkRunFile(path)).rejects.toMatchObject({ code: 'RUN_FILE_DAMAGED' });
  });

  it('show no part of a run when the import breaks off, because its start comes last', async () => {
    await exportRun({ log, runId, path });
    const target = await openLmdbLog({ path: join(directory, 'target'), createdBy: 'test' });
    const failing: EventLog = Object.create(target, {
      append: {
        value: (...args: Parameters<EventLog['append']>) =>
          args[0] === 'control' ? Promise.reject(new Error('disk full')) : target.append(...args),
      },
    }) as EventLog;
    const writeCheckpoint = () => Promise.resolve();
    await expect(importRun({ log: failing, path, writeCheckpoint })).rejects.toThrow();
    expect((await eventsOf(target)).filter(({ episodeId }) => episodeId === '')).toEqual([]);
    await target.close();
  });

  it('refuse events of a later schema version', async () => {
    const event = controlEvent({ logId: log.logId, runId }, 'RunEnded');
    const record = encodeEvent(event);
    const { writeRunFile } = await import('./run-file-writer.js');
    const later = Buffer.from(record);
    const body = messagePack.unpack(later.subarray(8)) as unknown[];
    body[1] = 99;
    await writeRunFile(path, runId, [
      {
        stream: 'control',
        episodeId: '',
        seq: 0,
        kind: 'RunEnded',
        schemaVersion: 99,
        id: event.eventId,
        occurredAtUs: event.occurredAtUs,
        record: frame(messagePack.pack(body)),
      },
    ]);
    await expect(checkRunFile(path)).rejects.toMatchObject({ code: 'RUN_FILE_VERSION' });
  });
});
