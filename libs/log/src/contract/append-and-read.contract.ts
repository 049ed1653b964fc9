import { describe, expect, it } from 'vitest';
import type { ContractContext } from './context.contract.js';
import { readAll, decodeText, texts } from './records.contract.js';

/** Tests order, offsets, limits and bytes through one handle. */
export function describeAppendAndRead({ open }: ContractContext): void {
  describe('append and read', () => {
    it('assigns offsets 0, 1, 2 … and returns records in that order', async () => {
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

    it('keeps concurrent appends in the order of the calls, each contiguous', async () => {
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

    it('keeps the records of partitions and streams separate', async () => {
      const log = await open();
      await log.append('trajectories', 0, texts('zero'));
      await log.append('trajectories', 1, texts('one'));
      expect(await readAll(log, 0)).toEqual([[0, 'zero']]);
      expect(await readAll(log, 1)).toEqual([[0, 'one']]);
      expect(await log.endOffset('control', 0)).toBe(1);
    });

    it('read stops at maxRecords, and after the record that reaches maxBytes', async () => {
      const log = await open();
      await log.append('trajectories', 0, texts('aaaa', 'bbbb', 'cccc'));
      const numRead = async (options: object): Promise<number> =>
        (await log.read('trajectories', 0, 0, options)).length;
      expect(await numRead({ maxRecords: 2 })).toBe(2);
      expect(await numRead({ maxBytes: 1 })).toBe(1);
      expect(await numRead({ maxBytes: 4 })).toBe(1);
      expect(await numRead({ maxBytes: 5 })).toBe(2);
    });

    it('appends in stages, across partitions and streams, with cursors', async () => {
      const log = await open();
      const at = (partition: number, ...records: string[]) =>
        ({ stream: 'trajectories', partition, records: texts(...records) }) as const;
      await log.append('trajectories', 1, texts('one'));
      await log.appendInStages(
        [
          [at(0, 'zero', 'and more'), at(1, 'next')],
          [{ stream: 'control', partition: 0, records: texts('last') }],
        ],
        [{ group: 'round', stream: 'trajectories', partition: 1, nextOffset: 1 }],
      );
      expect(await readAll(log, 0)).toEqual([
        [0, 'zero'],
        [1, 'and more'],
      ]);
      expect(await readAll(log, 1)).toEqual([
        [0, 'one'],
        [1, 'next'],
      ]);
      expect((await log.read('control', 0, 1)).map(decodeText)).toEqual(['last']);
      await expect.poll(() => log.readCursor('round', 'trajectories', 1)).toBe(1);
    });

    it('appends no stage behind one that fails', async () => {
      const log = await open();
      const tooLarge = [new Uint8Array(log.maxRecordBytes + 1)];
      const stages = [
        [{ stream: 'trajectories', partition: 0, records: tooLarge }],
        [{ stream: 'control', partition: 0, records: texts('last') }],
      ] as const;
      await expect(log.appendInStages(stages)).rejects.toMatchObject({ code: 'LOG_RECORD_TOO_LARGE' });
      expect(await log.endOffset('control', 0)).toBe(1);
    });

    it('reads from any offset, and returns nothing after the end', async () => {
      const log = await open();
      await log.append('trajectories', 0, texts('a', 'b', 'c'));
      expect((await log.read('trajectories', 0, 2)).map(({ offset }) => offset)).toEqual([2]);
      expect(await log.read('trajectories', 0, 3)).toEqual([]);
      expect(await log.read('trajectories', 0, 1000)).toEqual([]);
      expect(await log.endOffset('trajectories', 1)).toBe(0);
    });

    it('returns every byte of empty, small and large records', async () => {
      const log = await open();
      const sizes = [0, 1, 255, 2_048, 4_096, 70_000, 3_000_000];
      const records = sizes.map((size) => Uint8Array.from({ length: size }, (_, i) => (i * 31 + size) % 256));
      await log.append('trajectories', 0, records);
      const read = await log.read('trajectories', 0, 0);
      expect(read).toHaveLength(sizes.length);
      read.forEach(({ bytes }, i) => expect(Buffer.compare(bytes, records[i])).toBe(0));
    });

    it('returns bytes that the caller may change', async () => {
      const log = await open();
      await log.append('trajectories', 0, texts('precious', 'x'.repeat(9_000)));
      const first = await log.read('trajectories', 0, 0);
      first.forEach(({ bytes }) => bytes.fill(0));
      const again = await log.read('trajectories', 0, 0);
      expect(decodeText(again[0])).toBe('precious');
      await log.append('trajectories', 0, [new Uint8Array(9_000).fill(7)]);
      await log.read('trajectories', 0, 0);
      expect(decodeText(again[1])).toBe('x'.repeat(9_000));
    });

    it('refuses a record above the limit, and appends no record of its call', async () => {
      const log = await open();
      const tooLarge = new Uint8Array(log.maxRecordBytes + 1);
      await expect(log.append('trajectories', 0, [...texts('small'), tooLarge])).rejects.toMatchObject({
        code: 'LOG_RECORD_TOO_LARGE',
        message: expect.stringContaining(String(log.maxRecordBytes)) as string,
      });
      expect(await log.endOffset('trajectories', 0)).toBe(0);
    });

    it('refuses unknown partitions, impossible offsets, and an append without records', async () => {
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
}
