import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { appendEvents } from '@retrace/log/testing';
import { createDataset, DatasetDirectory, type SelectionRow } from '@retrace/datasets';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from './python-package.js';

const found = await pythonWith('datasets==5.2.0');
const TITLE = 'Hugging Face datasets 5.2.0, which loads a data set from its directory';
const title = found.kind === 'available' ? TITLE : `${TITLE} (skipped, because ${found.reason})`;

type Splits = Record<string, Record<string, unknown>[]>;

describe.skipIf(found.kind === 'unavailable')(title, () => {
  let store: StoreFixture;
  let directory: DatasetDirectory;
  const rows: SelectionRow[] = [];
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreFixture();
    directory = new DatasetDirectory(join(store.directory, 'datasets'));
    const ids = { logId: store.log.logId, runId };
    await appendEvents(store.log, [controlEvent(ids, 'RunStarted')]);
    for (let ordinal = 0; ordinal < 4; ordinal += 1) {
      const step = (k: number) => ({
        observation: `see ${k}`,
        action: `do ${ordinal} ${k}`,
        reward: ordinal % 2,
      });
      const events = episodeEvents({ ...ids, ordinal, numSteps: 2, step });
      rows.push({ run_id: runId, episode_id: events[0].episodeId, split: ordinal < 2 ? 'train' : 'test' });
      await appendEvents(store.log, events);
    }
    await catchUp(store.log, store.client);
  });
  afterAll(() => store.close());

  async function* selection() {
    for (const row of rows) yield Promise.resolve(row);
  }

  const create = (fileFormat: 'jsonl' | 'parquet', format: 'sft' | 'dpo') =>
    createDataset({
      client: store.client,
      directory,
      name: `${format}-${fileFormat}`,
      format,
      fileFormat,
      sql: 'SELECT run_id, episode_id, split FROM episodes',
      rows: selection(),
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

  it('gives the rows of each split, from JSON lines and from Parquet', async () => {
    if (found.kind === 'unavailable') return;
    await create('jsonl', 'sft');
    await create('parquet', 'sft');
    await create('parquet', 'dpo');
    const program = join(import.meta.dirname, 'hugging_face_datasets.py');
    const names = ['sft-jsonl', 'sft-parquet', 'dpo-parquet'].map((name) => join(directory.path, name));
    const { stdout } = await promisify(execFile)(found.python, [program, ...names], {
      env: { ...process.env, HF_HUB_OFFLINE: '1', HF_HOME: join(store.directory, 'cache') },
    });
    const [lines, columns, pairs] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Splits);
    const contents = (splits: Splits, split: string) =>
      splits[split].map(({ messages }) => (messages as { content: string }[]).map(({ content }) => content));
    expect(contents(lines, 'train')).toEqual([
      ['see 0', 'do 0 0', 'see 1', 'do 0 1'],
      ['see 0', 'do 1 0', 'see 1', 'do 1 1'],
    ]);
    for (const split of ['train', 'test']) expect(contents(columns, split)).toEqual(contents(lines, split));
    expect(pairs.train).toMatchObject([
      {
        prompt: [{ role: 'user', content: 'see 0' }],
        chosen: [{ content: 'do 1 0' }, { content: 'see 1' }, { content: 'do 1 1' }],
        score_chosen: 2,
        score_rejected: 0,
      },
    ]);
  });
});
