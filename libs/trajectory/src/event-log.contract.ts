import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleForChild, type ChildModule } from './child-module.contract.js';
import { decodeEvent } from './codec/index.js';
import type { EventLog, LogRecord } from './event-log.js';
import { recordText, type ProcessRequest } from './event-log-process.contract.js';
import { WriterProcess } from './writer-process.contract.js';

export interface EventLogHarness {
  readonly adapter: string;
  /** A place where no log is yet: directory, topic prefix … */
  createLocation(): Promise<string>;
  removeLocation(location: string): Promise<void>;
  openLog(location: string): Promise<EventLog>;
  /** A module that calls `serveWriterProcess` with this adapter's `openLog`; child processes run it. */
  readonly processModule: URL;
}

/** Tests that an adapter does what the `EventLog` port asks of it, across real processes. */
export function describeEventLog(harness: EventLogHarness): void {
  describe(`${harness.adapter} as an event log`, () => {
    const children = new Set<ChildProcess>();
    const logs = new Set<EventLog>();
    let childModule: ChildModule;
    let location: string;

    beforeAll(async () => {
      childModule = await bundleForChild(harness.processModule);
    });
    afterAll(() => childModule.remove());
    beforeEach(async () => {
      location = await harness.createLocation();
    });
    afterEach(async () => {
      for (const child of children) child.kill('SIGKILL');
      children.clear();
      await Promise.all([...logs].map((log) => log.close()));
      logs.clear();
      await harness.removeLocation(location);
    });

    const open = async (): Promise<EventLog> => {
      const log = await harness.openLog(location);
      logs.add(log);
      return log;
    };

    const startProcess = (request: Omit<ProcessRequest, 'location'>): WriterProcess => {
      const child = fork(childModule.path, { stdio: 'inherit' });
      children.add(child);
      child.send({ ...request, location });
      return new WriterProcess(child);
    };

    describe('append and read', () => {
      it('gives records offsets 0, 1, 2 … and brings them back in order', async () => {
        const log = await open();
        expect(await log.append('trajectories', 0, texts('a', 'b'))).toEqual({ firstOffset: 0 });
        expect(await log.append('trajectories', 0, texts('c'))).toEqual({ firstOffset: 2 });
        expect(await readAll(log)).toEqual([
          [0, 'a'],
          [1, 'b'],
          [2, 'c'],
        ]);
        expect(await log.startOffset('trajectories', 0)).toBe(0);
        expect(await log.endOffset('trajectories', 0)).toBe(3);
      });

      it('lands calls made at once in the order they were made, each contiguous', async () => {
        const log = await open();
        const appended = await Promise.all(
          Array.from({ length: 50 }, (_, i) => log.append('trajectories', 0, texts(`${i}/0`, `${i}/1`))),
        );
        expect(appended.map(({ firstOffset }) => firstOffset)).toEqual(
          Array.from({ length: 50 }, (_, i) => 2 * i),
        );
        const expected = Array.from({ length: 100 }, (_, i) => `${Math.floor(i / 2)}/${i % 2}`);
        expect((await readAll(log)).map(([, text]) => text)).toEqual(expected);
      });

      it('keeps partitions and streams apart', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('zero'));
        await log.append('trajectories', 1, texts('one'));
        expect(await readAll(log, 0)).toEqual([[0, 'zero']]);
        expect(await readAll(log, 1)).toEqual([[0, 'one']]);
        expect(await log.endOffset('control', 0)).toBe(1);
      });

      it('stops at maxRecords, and after the record that reaches maxBytes', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('aaaa', 'bbbb', 'cccc'));
        const numRead = async (options: object): Promise<number> =>
          (await log.read('trajectories', 0, 0, options)).length;
        expect(await numRead({ maxRecords: 2 })).toBe(2);
        expect(await numRead({ maxBytes: 1 })).toBe(1);
        expect(await numRead({ maxBytes: 4 })).toBe(1);
        expect(await numRead({ maxBytes: 5 })).toBe(2);
      });

      it('reads from any offset, and nothing past the end', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('a', 'b', 'c'));
        expect((await log.read('trajectories', 0, 2)).map(({ offset }) => offset)).toEqual([2]);
        expect(await log.read('trajectories', 0, 3)).toEqual([]);
        expect(await log.read('trajectories', 0, 1000)).toEqual([]);
        expect(await log.endOffset('trajectories', 1)).toBe(0);
      });

      it('keeps every byte of empty, small and large records', async () => {
        const log = await open();
        const sizes = [0, 1, 255, 2_048, 4_096, 70_000, 3_000_000];
        const records = sizes.map((size) =>
          Uint8Array.from({ length: size }, (_, i) => (i * 31 + size) % 256),
        );
        await log.append('trajectories', 0, records);
        const read = await log.read('trajectories', 0, 0);
        expect(read).toHaveLength(sizes.length);
        read.forEach(({ bytes }, i) => expect(Buffer.compare(bytes, records[i])).toBe(0));
      });

      it('hands out bytes that are the reader’s own', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('precious', 'x'.repeat(9_000)));
        const first = await log.read('trajectories', 0, 0);
        first.forEach(({ bytes }) => bytes.fill(0));
        const again = await log.read('trajectories', 0, 0);
        expect(textOf(again[0])).toBe('precious');
        await log.append('trajectories', 0, [new Uint8Array(9_000).fill(7)]);
        await log.read('trajectories', 0, 0);
        expect(textOf(again[1])).toBe('x'.repeat(9_000));
      });

      it('refuses a record above the limit and lands nothing of its call', async () => {
        const log = await open();
        const tooLarge = new Uint8Array(log.maxRecordBytes + 1);
        await expect(log.append('trajectories', 0, [...texts('small'), tooLarge])).rejects.toMatchObject({
          code: 'LOG_RECORD_TOO_LARGE',
          message: expect.stringContaining(String(log.maxRecordBytes)) as string,
        });
        expect(await log.endOffset('trajectories', 0)).toBe(0);
      });

      it('refuses partitions that there are not, impossible offsets, and an append of nothing', async () => {
        const log = await open();
        const missing = log.numPartitions('trajectories');
        await expect(log.append('trajectories', missing, texts('a'))).rejects.toMatchObject({
          code: 'LOG_UNKNOWN_PARTITION',
        });
        await expect(log.read('control', -1, 0)).rejects.toMatchObject({ code: 'LOG_UNKNOWN_PARTITION' });
        await expect(log.read('control', 0, -1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
        await expect(log.append('trajectories', 0, [])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      });
    });

    describe('identity', () => {
      it('starts with one LogOpened, however many processes open a new log at once', async () => {
        const processes = Array.from({ length: 4 }, (_, i) =>
          startProcess({ label: `opener ${i}`, numAppends: 0, recordsPerAppend: 0 }),
        );
        await Promise.all(processes.map((process) => process.exited()));
        const log = await open();
        const logIds = processes.flatMap(({ reports }) =>
          reports.flatMap((r) => ('opened' in r ? [r.opened] : [])),
        );
        expect(logIds).toEqual(Array.from({ length: 4 }, () => log.logId));

        const records = await log.read('control', 0, 0);
        expect(records).toHaveLength(1);
        expect(decodeEvent(records[0].bytes)).toMatchObject({
          ok: true,
          event: {
            kind: 'LogOpened',
            logId: log.logId,
            payload: { partitions: { trajectories: log.numPartitions('trajectories'), control: 1 } },
          },
        });
      });

      it('is the same log after it was closed and opened again', async () => {
        const before = await open();
        await before.append('trajectories', 0, texts('kept'));
        await before.close();
        const after = await open();
        expect(after.logId).toBe(before.logId);
        expect(await readAll(after)).toEqual([[0, 'kept']]);
        expect(await after.append('trajectories', 0, texts('next'))).toEqual({ firstOffset: 1 });
      });
    });

    describe('several processes', () => {
      it('keep every append contiguous, once and in its writer’s order', async () => {
        const log = await open();
        const writers = ['x', 'y', 'z'].map((label) =>
          startProcess({ label, numAppends: 60, recordsPerAppend: 5 }),
        );
        for (let i = 0; i < 60; i += 1) await log.append('trajectories', 0, texts(recordText('own', i, 0)));
        await Promise.all(writers.map((writer) => writer.exited()));

        const records = await readAll(log);
        expect(records.map(([offset]) => offset)).toEqual(
          Array.from({ length: 3 * 60 * 5 + 60 }, (_, i) => i),
        );
        for (const [w, label] of ['x', 'y', 'z'].entries()) {
          const mine = records.filter(([, text]) => text.startsWith(`${label}/`));
          const inOrder = Array.from({ length: 300 }, (_, i) => recordText(label, Math.floor(i / 5), i % 5));
          expect(mine.map(([, text]) => text)).toEqual(inOrder);
          expect(writers[w].acknowledged()).toHaveLength(60);
          for (const { acknowledged, firstOffset } of writers[w].acknowledged()) {
            const landed = records.slice(firstOffset, firstOffset + 5).map(([, text]) => text);
            expect(landed).toEqual(Array.from({ length: 5 }, (_, i) => recordText(label, acknowledged, i)));
          }
        }
      });

      it('lose and double nothing acknowledged when a writer is killed, and go on writing', async () => {
        const log = await open();
        for (const round of [0, 1, 2]) {
          const writer = startProcess({ label: `victim ${round}`, numAppends: -1, recordsPerAppend: 3 });
          await writer.acknowledgedAtLeast(20 + 15 * round);
          await writer.kill();
          await log.append('trajectories', 0, texts(`after ${round}`));

          const records = await readAll(log);
          const numBy = new Map<string, number>();
          for (const [, text] of records) numBy.set(text, (numBy.get(text) ?? 0) + 1);
          expect(records.map(([offset]) => offset)).toEqual(records.map((_, i) => i));
          expect(Math.max(...numBy.values())).toBe(1);
          for (const { acknowledged, firstOffset } of writer.acknowledged()) {
            for (const record of [0, 1, 2]) {
              expect(records[firstOffset + record][1]).toBe(
                recordText(`victim ${round}`, acknowledged, record),
              );
            }
          }
          // The append that was cut off landed whole or not at all.
          const numOfVictim = records.filter(([, text]) => text.startsWith(`victim ${round}/`)).length;
          expect(numOfVictim % 3).toBe(0);
        }
      });
    });

    describe('follow', () => {
      it('yields what is there and then what another process appends, never an empty batch', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('already there', 'from here'));
        const writer = startProcess({ label: 'w', numAppends: 40, recordsPerAppend: 2 });
        const seen: LogRecord[] = [];
        for await (const batch of log.follow('trajectories', 0, 1)) {
          expect(batch.length).toBeGreaterThan(0);
          seen.push(...batch);
          if (seen.length === 81) break;
        }
        await writer.exited();
        expect(seen.map(({ offset }) => offset)).toEqual(Array.from({ length: 81 }, (_, i) => i + 1));
        expect(textOf(seen[0])).toBe('from here');
        expect(textOf(seen[80])).toBe(recordText('w', 39, 1));
      });

      it('keeps to maxRecords', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('a', 'b', 'c'));
        const sizes: number[] = [];
        for await (const batch of log.follow('trajectories', 0, 0, { maxRecords: 2 })) {
          sizes.push(batch.length);
          if (sizes.length === 2) break;
        }
        expect(sizes).toEqual([2, 1]);
      });

      it('ends without an error when the signal aborts, before and while it waits', async () => {
        const log = await open();
        const aborting = new AbortController();
        const following = collect(log.follow('trajectories', 0, 0, { signal: aborting.signal }));
        await pause(30);
        aborting.abort();
        expect(await following).toEqual([]);
        expect(await collect(log.follow('trajectories', 0, 0, { signal: AbortSignal.abort() }))).toEqual([]);
      });
    });

    describe('cursors', () => {
      it('are null until committed, then the same for every handle and after reopening', async () => {
        const log = await open();
        const other = await open();
        expect(await log.readCursor('sink', 'trajectories', 0)).toBeNull();
        await log.commitCursor('sink', 'trajectories', 0, 7);
        expect(await other.readCursor('sink', 'trajectories', 0)).toBe(7);
        await other.commitCursor('sink', 'trajectories', 0, 5);
        expect(await log.readCursor('sink', 'trajectories', 0)).toBe(5);
        await log.close();
        await other.close();
        expect(await (await open()).readCursor('sink', 'trajectories', 0)).toBe(5);
      });

      it('belong to one group and partition, and change nothing that can be read', async () => {
        const log = await open();
        await log.append('trajectories', 0, texts('a'));
        await log.commitCursor('sink', 'trajectories', 0, 1);
        expect(await log.readCursor('other', 'trajectories', 0)).toBeNull();
        expect(await log.readCursor('sink', 'trajectories', 1)).toBeNull();
        expect(await log.readCursor('sink', 'control', 0)).toBeNull();
        expect(await readAll(log)).toEqual([[0, 'a']]);
      });
    });

    describe('close', () => {
      it('lets appends under way settle', async () => {
        const log = await open();
        const appends = [
          log.append('trajectories', 0, texts('a')),
          log.append('trajectories', 0, texts('b')),
        ];
        await log.close();
        expect(await Promise.all(appends)).toEqual([{ firstOffset: 0 }, { firstOffset: 1 }]);
        expect(await readAll(await open())).toHaveLength(2);
      });

      it('ends every follow, may be called twice, and refuses what comes after', async () => {
        const log = await open();
        const following = collect(log.follow('control', 0, 1));
        await pause(10);
        await log.close();
        await log.close();
        expect(await following).toEqual([]);
        const closed = { code: 'LOG_CLOSED', retriable: false };
        await expect(log.append('trajectories', 0, texts('a'))).rejects.toMatchObject(closed);
        await expect(log.read('trajectories', 0, 0)).rejects.toMatchObject(closed);
        await expect(log.endOffset('trajectories', 0)).rejects.toMatchObject(closed);
        await expect(log.startOffset('trajectories', 0)).rejects.toMatchObject(closed);
        await expect(log.readCursor('g', 'trajectories', 0)).rejects.toMatchObject(closed);
        await expect(log.commitCursor('g', 'trajectories', 0, 1)).rejects.toMatchObject(closed);
        await expect(collect(log.follow('trajectories', 0, 0))).rejects.toMatchObject(closed);
      });

      it('leaves other handles of this process as they are', async () => {
        const log = await open();
        const other = await open();
        await log.close();
        expect(await other.append('trajectories', 0, texts('a'))).toEqual({ firstOffset: 0 });
        expect(await readAll(other)).toEqual([[0, 'a']]);
      });
    });
  });
}

function texts(...values: readonly string[]): Uint8Array[] {
  return values.map((value) => new TextEncoder().encode(value));
}

function textOf({ bytes }: LogRecord): string {
  return new TextDecoder().decode(bytes);
}

async function readAll(log: EventLog, partition = 0): Promise<(readonly [number, string])[]> {
  const all: (readonly [number, string])[] = [];
  for (let next = 0; ;) {
    const records = await log.read('trajectories', partition, next);
    if (records.length === 0) return all;
    all.push(...records.map((record) => [record.offset, textOf(record)] as const));
    next = records[records.length - 1].offset + 1;
  }
}

async function collect(batches: AsyncIterable<LogRecord[]>): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}
