import { describe, expect, it } from 'vitest';
import { decodeEvent } from '@retrace/trajectory/codec';
import type { ContractContext } from './context.contract.js';
import { recordText } from './process-main.contract.js';
import { readAll, texts } from './records.contract.js';

/** Tests that a log has one identity, and loses and doubles no record, while several processes use it. */
export function describeProcesses({ open, startProcess }: ContractContext): void {
  describe('identity', () => {
    it('starts with exactly one LogOpened when several processes open a new log at once', async () => {
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

    it('stays the same after the log was closed and opened again', async () => {
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
    it('write every append once, contiguous and in the order of its writer', async () => {
      const log = await open();
      const writers = ['x', 'y', 'z'].map((label) =>
        startProcess({ label, numAppends: 60, recordsPerAppend: 5 }),
      );
      for (let i = 0; i < 60; i += 1) await log.append('trajectories', 0, texts(recordText('own', i, 0)));
      await Promise.all(writers.map((writer) => writer.exited()));

      const records = await readAll(log);
      expect(records.map(([offset]) => offset)).toEqual(Array.from({ length: 3 * 60 * 5 + 60 }, (_, i) => i));
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

    it('lose and double no acknowledged record when a writer is killed, and continue', async () => {
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
        // The append during which the writer was killed landed as a whole or not at all.
        const numOfVictim = records.filter(([, text]) => text.startsWith(`victim ${round}/`)).length;
        expect(numOfVictim % 3).toBe(0);
      }
    });
  });
}
