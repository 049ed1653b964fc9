import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readControlState } from '@retrace/log';
import { appendEvents, overriding } from '@retrace/log/testing';
import { CheckpointFiles } from '@retrace/policy';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId, type CheckpointFile } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteRun, hasTraces, type DeletionSession } from './delete-run.js';

describe('deleteRun', () => {
  let store: StoreFixture;
  let directory: string;
  let checkpoints: CheckpointFiles;
  let own: CheckpointFile;
  let shared: CheckpointFile;
  const [runId, otherId] = [newRunId(), newRunId()];

  beforeEach(async () => {
    store = await openStoreFixture();
    directory = mkdtempSync(join(tmpdir(), 'retrace-delete-'));
    checkpoints = new CheckpointFiles(directory);
    own = await checkpoints.write(Buffer.from('own'));
    shared = await checkpoints.write(Buffer.from('shared'));
    for (const id of [runId, otherId]) {
      const ids = { logId: store.log.logId, runId: id };
      const published = (policyVersion: number, weights: CheckpointFile) =>
        controlEvent(ids, 'PolicyPublished', { policyVersion, parentVersion: null, epoch: 0, weights });
      await appendEvents(store.log, [
        controlEvent(ids, 'RunStarted', { recipe: {} }),
        controlEvent(ids, 'TrainerClaimed', { epoch: 0 }),
        published(0, shared),
        ...(id === runId ? [published(1, own)] : []),
      ]);
    }
    await catchUp(store.log, store.client);
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });

  const session = (options: Partial<DeletionSession> = {}): DeletionSession => ({
    ...{ log: store.log, client: store.client, checkpoints, isLive: false, hasOtherWriters: false },
    catchUp: () => catchUp(store.log, store.client),
    ...options,
  });
  const remove = (options?: Partial<DeletionSession>, id = runId) =>
    deleteRun(session(options), { runId: id, force: true, detail: 'test' });
  const kept = async () => (await checkpoints.list()).map(({ sha256 }) => sha256);

  it('removes a run from log, store and checkpoints, and keeps a file that another run names', async () => {
    expect(await remove()).toMatchObject({ runId, numCheckpointFiles: 1 });
    expect(await kept()).toEqual([shared.sha256]);
    expect((await readControlState(store.log)).runs.map((run) => run.runId)).toEqual([otherId]);
    expect(await hasTraces(store.client, runId)).toBe(false);
    expect(await hasTraces(store.client, otherId)).toBe(true);
  });

  it('completes, when called again, a deletion that ended before the checkpoints were removed', async () => {
    const broken = new CheckpointFiles(directory);
    broken.remove = () => Promise.reject(new Error('killed'));
    await expect(remove({ checkpoints: broken })).rejects.toThrow('killed');
    expect((await readControlState(store.log)).run(runId)).toBeUndefined();
    expect(await remove()).toMatchObject({ numCheckpointFiles: 1 });
    expect(await kept()).toEqual([shared.sha256]);
    await expect(remove()).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  });

  it('completes, when called again, a deletion that ended between two tables of the store', async () => {
    const rows = "(run_id, reward_version) VALUES ({runId:String}, 'v')";
    for (const table of ['reward_scores', 'reward_definitions'])
      await store.client.command(`INSERT INTO ${table} ${rows}`, { params: { runId } });
    let numDeletes = 0;
    const client = overriding(store.client, {
      command: (sql, options) => {
        if (sql.startsWith('DELETE') && ++numDeletes === 2) return Promise.reject(new Error('killed'));
        return store.client.command(sql, options);
      },
    });
    await expect(remove({ client })).rejects.toThrow('killed');
    await remove();
    for (const table of ['reward_scores', 'reward_definitions']) {
      const left = `SELECT count() AS n FROM ${table} WHERE run_id = {runId:String}`;
      expect(await store.client.queryRows(left, { params: { runId } })).toEqual([{ n: 0 }]);
    }
    await expect(remove()).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  });

  it('refuses an unfinished run while others write, and a run that neither log nor store has', async () => {
    await expect(remove({ hasOtherWriters: true, isLive: true })).rejects.toMatchObject({
      code: 'RUN_ACTIVE',
      message: `run ${runId} has not ended and a server is running; stop the server first`,
    });
    await expect(remove({ hasOtherWriters: true })).rejects.toThrow(
      'a command that joined a server still writes',
    );
    const unknown = newRunId();
    await expect(remove({}, unknown)).rejects.toMatchObject({
      code: 'RUN_UNKNOWN',
      message: `run "${unknown}" not found; see "retrace runs"`,
    });
    expect(await kept()).toHaveLength(2);
  });
});
