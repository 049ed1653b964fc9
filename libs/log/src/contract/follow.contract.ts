import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LogRecord } from '../event-log.js';
import type { ContractContext } from './context.contract.js';
import { recordText } from './process-main.contract.js';
import { collect, decodeText, texts } from './records.contract.js';

/** Tests followers of a partition, also while another process writes to it. */
export function describeFollow({ open, startProcess }: ContractContext): void {
  describe('follow', () => {
    it('yields existing records, then those that another process appends, never an empty batch', async () => {
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
      expect(decodeText(seen[0])).toBe('from here');
      expect(decodeText(seen[80])).toBe(recordText('w', 39, 1));
    });

    it('yields at most maxRecords in a batch', async () => {
      const log = await open();
      await log.append('trajectories', 0, texts('a', 'b', 'c'));
      const sizes: number[] = [];
      for await (const batch of log.follow('trajectories', 0, 0, { maxRecords: 2 })) {
        sizes.push(batch.length);
        if (sizes.length === 2) break;
      }
      expect(sizes).toEqual([2, 1]);
    });

    it('ends without an error when the signal aborts before or during a wait', async () => {
      const log = await open();
      const aborting = new AbortController();
      const following = collect(log.follow('trajectories', 0, 0, { signal: aborting.signal }));
      await pause(30);
      aborting.abort();
      expect(await following).toEqual([]);
      expect(await collect(log.follow('trajectories', 0, 0, { signal: AbortSignal.abort() }))).toEqual([]);
    });
  });
}
