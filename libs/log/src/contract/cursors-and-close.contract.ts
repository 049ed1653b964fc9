import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ContractContext } from './context.contract.js';
import { collect, readAll, texts } from './records.contract.js';

/** Tests group cursors and the closing of handles. */
export function describeCursorsAndClose({ open }: ContractContext): void {
  describe('cursors', () => {
    it('are null until committed, then equal for every handle and after reopening', async () => {
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

    it('belong to one group and partition, and have no effect on reads', async () => {
      const log = await open();
      await log.append('trajectories', 0, texts('a'));
      await log.commitCursor('sink', 'trajectories', 0, 1);
      expect(await log.readCursor('other', 'trajectories', 0)).toBeNull();
      expect(await log.readCursor('sink', 'trajectories', 1)).toBeNull();
      expect(await log.readCursor('sink', 'control', 0)).toBeNull();
      expect(await readAll(log)).toEqual([[0, 'a']]);
    });
  });
  describe('cursorReached', () => {
    it('resolves true when another handle commits such a cursor, and immediately if it is there already', async () => {
      const log = await open();
      const other = await open();
      await other.commitCursor('sink', 'trajectories', 0, 3);
      let reached = false;
      const waiting = log.cursorReached('sink', 'trajectories', 0, 5).then((result) => {
        reached = true;
        return result;
      });
      await other.commitCursor('sink', 'trajectories', 0, 4);
      await other.commitCursor('other', 'trajectories', 0, 9);
      await pause(60);
      expect(reached).toBe(false);
      await other.commitCursor('sink', 'trajectories', 0, 6);
      expect(await waiting).toBe(true);
      expect(await log.cursorReached('sink', 'trajectories', 0, 5)).toBe(true);
    });

    it('resolves false when the signal aborts', async () => {
      const log = await open();
      const aborting = new AbortController();
      const waiting = log.cursorReached('sink', 'control', 0, 1, aborting.signal);
      await pause(10);
      aborting.abort();
      expect(await waiting).toBe(false);
      expect(await log.cursorReached('sink', 'control', 0, 1, AbortSignal.abort())).toBe(false);
    });
  });

  describe('close', () => {
    it('waits until unfinished appends have settled', async () => {
      const log = await open();
      const appends = [log.append('trajectories', 0, texts('a')), log.append('trajectories', 0, texts('b'))];
      await log.close();
      expect(await Promise.all(appends)).toEqual([{ firstOffset: 0 }, { firstOffset: 1 }]);
      expect(await readAll(await open())).toHaveLength(2);
    });

    it('ends every follow, may be called twice, and makes later calls fail', async () => {
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
      await expect(log.cursorReached('g', 'trajectories', 0, 1)).rejects.toMatchObject(closed);
      await expect(collect(log.follow('trajectories', 0, 0))).rejects.toMatchObject(closed);
    });

    it('does not affect other handles of the same process', async () => {
      const log = await open();
      const other = await open();
      await log.close();
      expect(await other.append('trajectories', 0, texts('a'))).toEqual({ firstOffset: 0 });
      expect(await readAll(other)).toEqual([[0, 'a']]);
    });
  });
}
