import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId, type StepRecorded } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient } from '../client/store-client.js';
import { migrate } from '../schema/migrate.js';
import { readRunHashes } from '../verify/row-hash.js';
import { verifyStore } from '../verify/verify-store.js';
import { exportRun } from './export-run.js';
import { checkRunFile, importRun } from './import-run.js';

describe('a run that is exported and imported elsewhere', () => {
  let source: StoreFixture;
  /** A log of its own, in a database of its own. */
  let target: Pick<StoreFixture, 'log' | 'client'>;

  beforeEach(async () => {
    source = await openStoreFixture({ numTrajectoryPartitions: 3 });
    await source.client.command('CREATE DATABASE target');
    const user = { username: 'retrace', password: 'fixture' };
    target = {
      log: await openLmdbLog({ path: join(source.directory, 'target'), createdBy: 'test' }),
      client: createStoreClient({ url: source.url, ...user, database: 'target' }),
    };
    await migrate(target.client);
  });

  afterEach(async () => {
    await target.log.close();
    await target.client.close();
    await source.close();
  });

  it('has the same row hash in the other store, conflicts and repeated records included', async () => {
    const runId = newRunId();
    const ids = { logId: source.log.logId, runId };
    await appendEvents(source.log, [controlEvent(ids, 'RunStarted'), controlEvent(ids, 'TrainerClaimed')]);
    for (let ordinal = 0; ordinal < 20; ordinal++) {
      await appendEvents(source.log, episodeEvents({ ...ids, ordinal, numSteps: 1 + (ordinal % 4) }));
    }
    const events = episodeEvents({ ...ids, ordinal: 3 });
    const step = events[1];
    const conflict = { ...step, payload: { ...(step.payload as StepRecorded), reward: 99 } } as typeof step;
    await appendEvents(source.log, [step, conflict]);
    await source.log.append('control', 0, [encodeEvent(controlEvent(ids, 'RunEnded')), Uint8Array.of(1)]);
    await catchUp(source.log, source.client);
    // Something else lies in the log before it, so that no offset is the same.
    await appendEvents(target.log, [
      controlEvent({ logId: target.log.logId, runId: newRunId() }, 'RunStarted'),
    ]);

    const path = join(source.directory, 'run.arrows');
    const [{ rowHash, numRows }] = await readRunHashes(source.client, { runId });
    const report = await exportRun({ log: source.log, runId, path, rowHash });
    // The conflict is an event of the log, and no row of the run.
    expect(report.numEvents).toBe(numRows + 1);
    expect((await checkRunFile(path)).rowHash).toBe(rowHash);
    await importRun({ log: target.log, path, writeCheckpoint: () => Promise.resolve() });
    await catchUp(target.log, target.client);

    expect(await readRunHashes(target.client, { runId })).toEqual([{ runId, numRows, rowHash }]);
    expect(await verifyStore({ log: target.log, client: target.client })).toMatchObject({
      ok: true,
      numConflicts: 1,
      numSealedEpisodes: 20,
    });
  });
});
