import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendEvents } from '@retrace/log/testing';
import { catchUp, verifyStore } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataset } from './create-dataset.js';
import { DatasetDirectory } from './dataset-directory.js';
import { registerDataset } from './register-dataset.js';

describe('registerDataset', () => {
  let store: StoreFixture;
  let root: string;
  let directory: DatasetDirectory;
  const runIds = [newRunId(), newRunId()];
  const episodeIds: string[] = [];

  const bringUpToDate = () => catchUp(store.log, store.client);
  const register = (name: string, from = directory) =>
    registerDataset({ log: store.log, client: store.client, directory: from, name, bringUpToDate });
  const stored = (sql: string) => store.client.queryRows<Record<string, unknown>>(sql);

  const create = (name: string) =>
    createDataset({
      client: store.client,
      directory,
      name,
      format: 'sft',
      fileFormat: 'jsonl',
      sql: 'SELECT run_id, episode_id FROM episodes',
      rows: (async function* () {
        for (const [e, id] of episodeIds.entries())
          yield Promise.resolve({ run_id: runIds[e === 0 ? 0 : 1], episode_id: id });
      })(),
      score: 'return',
      splitShares: null,
      seed: 0,
      dropDuplicates: false,
      requireClean: false,
      nGramWords: 13,
      createdAt: '2026-11-23T00:00:00.000Z',
      codeVersion: '0.1.0',
      log: { logId: store.log.logId, endOffsets: [0, 0] },
    });

  beforeAll(async () => {
    store = await openStoreFixture();
    root = await mkdtemp(join(tmpdir(), 'retrace-register-'));
    directory = new DatasetDirectory(join(root, 'sets'));
    const { logId } = store.log;
    for (const runId of runIds) await appendEvents(store.log, [controlEvent({ logId, runId }, 'RunStarted')]);
    // One episode of the first run and two of the second.
    for (const [ordinal, runId] of [runIds[0], runIds[1], runIds[1]].entries()) {
      const step = () => ({ observation: `where ${ordinal}`, action: `there ${ordinal}` });
      const events = episodeEvents({ logId, runId, ordinal, numSteps: 1, step });
      episodeIds.push(events[0].episodeId);
      await appendEvents(store.log, events);
    }
    await bringUpToDate();
    await create('solved');
  });
  afterAll(async () => {
    await store.close();
    await rm(root, { recursive: true });
  });

  it('makes the store list the data set with its runs and episodes, once however often it is called', async () => {
    expect(await register('solved')).toBe(false);
    expect(await register('solved')).toBe(true);
    const { contentHash } = await directory.read('solved');
    expect(await stored('SELECT name, content_hash, num_episodes, num_rows, location FROM datasets')).toEqual(
      [
        {
          name: 'solved',
          content_hash: contentHash,
          num_episodes: 3,
          num_rows: 3,
          location: join(root, 'sets/solved'),
        },
      ],
    );
    const episodes = await stored('SELECT * FROM dataset_episodes ORDER BY episode_id');
    expect(episodes).toEqual(
      episodeIds
        .map((id, e) => ({ dataset: 'solved', run_id: runIds[e === 0 ? 0 : 1], episode_id: id }))
        .sort((a, b) => (a.episode_id < b.episode_id ? -1 : 1)),
    );
  });

  it('refuses another content under the same name, and leaves what the store lists', async () => {
    const other = new DatasetDirectory(join(root, 'other'));
    await cp(directory.path, other.path, { recursive: true });
    const path = join(other.path, 'solved', 'manifest.json');
    const manifest = (await readFile(path, 'utf8')).replace(/"contentHash": "[0-9a-f]+"/, () => {
      return `"contentHash": "${'0'.repeat(64)}"`;
    });
    await writeFile(path, manifest);
    await expect(register('solved', other)).rejects.toMatchObject({ code: 'DATASET_CONFLICT' });
    const { contentHash } = await directory.read('solved');
    expect(await stored('SELECT content_hash FROM datasets')).toEqual([{ content_hash: contentHash }]);
  });

  it('keeps a name in use where the directory is gone', async () => {
    directory = new DatasetDirectory(join(root, 'third'));
    await expect(create('solved')).rejects.toMatchObject({ code: 'DATASET_EXISTS' });
  });

  it('writes events that the store holds as the log does', async () => {
    const report = await verifyStore({ log: store.log, client: store.client });
    expect(report).toMatchObject({ ok: true, numFaults: 0 });
  });
});
