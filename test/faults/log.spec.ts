import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SINK_GROUP } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultBench } from '../support/fault-bench.mjs';

const STREAMS = ['control', 'trajectories'] as const;

describe('a sink whose log, store or position was changed', () => {
  let bench: FaultBench;
  let logPath: string;

  beforeEach(async () => {
    bench = await FaultBench.open();
    logPath = join(bench.directory, 'log');
    await bench.startSink();
    await bench.appendEpisodes(8);
    await bench.untilVisible();
  });
  afterEach(() => bench.close());

  async function endSink(): Promise<void> {
    for (const sink of bench.sinks.splice(0)) await sink.end('SIGTERM');
  }

  it.each(['back to the start', 'beyond the end'])(
    'sink: ignores cursors that were moved %s',
    { tags: 'release' },
    async (where) => {
      await endSink();
      for (const stream of STREAMS) {
        for (let partition = 0; partition < bench.log.numPartitions(stream); partition += 1) {
          const cursor = where === 'beyond the end' ? 1_000_000 : 0;
          await bench.log.commitCursor(SINK_GROUP, stream, partition, cursor);
        }
      }
      await bench.startSink();
      await bench.appendEpisodes(8);
      await bench.untilVisible();
      const audit = await bench.audit();
      expect(audit).toMatchObject({ faults: [], numSealedEpisodes: 16, numRepeatedRows: 0 });
    },
  );

  it(
    'sink: brings again what the store lost from its end, as after a restore of an older copy',
    { tags: 'release' },
    async () => {
      await endSink();
      await bench.client.command("DELETE FROM events WHERE log_stream = 'trajectories' AND log_offset >= 7", {
        settings: { lightweight_deletes_sync: '2' },
      });
      expect((await bench.audit()).faults).not.toEqual([]);
      await bench.startSink();
      await bench.untilVisible();
      expect(await bench.audit()).toMatchObject({ faults: [], numSealedEpisodes: 8 });
    },
  );

  it('sink: refuses a log that was reset to before the store’s position, and the audit reports it', async () => {
    const copyPath = join(bench.directory, 'older copy');
    await bench.log.close();
    cpSync(logPath, copyPath, { recursive: true });
    bench.log = await openLmdbLog({ path: logPath, createdBy: 'fault matrix' });
    await bench.appendEpisodes(4);
    await bench.untilVisible();
    await endSink();
    await bench.log.close();
    rmSync(logPath, { recursive: true });
    cpSync(copyPath, logPath, { recursive: true });
    bench.log = await openLmdbLog({ path: logPath, createdBy: 'fault matrix' });

    const sink = await bench.startSink();
    await expect.poll(() => sink.said).toMatch(/LOG_BEHIND_STORE/);
    const { faults } = await bench.audit();
    expect(faults).toContainEqual(expect.stringMatching(/^STORE_AHEAD_OF_LOG trajectories/));
    expect(faults).toContainEqual(expect.stringMatching(/acknowledged events are not in the log/));
  });

  it(
    'sink: starts at the first record of a recreated log, and keeps the rows of the old one',
    { tags: 'release' },
    async () => {
      await endSink();
      await bench.log.close();
      rmSync(logPath, { recursive: true });
      const oldLogId = bench.log.logId;
      bench.log = await openLmdbLog({ path: logPath, createdBy: 'fault matrix', numTrajectoryPartitions: 2 });
      expect(bench.log.logId).not.toBe(oldLogId);
      const before = new Set(bench.acknowledged);
      await bench.startSink();
      await bench.appendEpisodes(5);
      await bench.untilVisible();
      const appendedSince = [...bench.acknowledged].filter((id) => !before.has(id));
      const rows = await bench.client.queryRows<{ log_id: string; ids: string[] }>(
        "SELECT log_id, groupUniqArray(toString(event_id)) AS ids FROM events WHERE kind NOT LIKE '\\_%' AND kind != 'LogOpened' GROUP BY log_id",
      );
      const idsOf = (logId: string) => new Set(rows.find(({ log_id }) => log_id === logId)!.ids);
      expect(idsOf(bench.log.logId)).toEqual(new Set(appendedSince));
      expect(idsOf(oldLogId)).toEqual(before);
      const [{ sealed }] = await bench.client.queryRows<{ sealed: number }>(
        'SELECT countIf(sealed) AS sealed FROM episodes',
      );
      expect(sealed).toBe(8 + 5);
    },
  );
});
