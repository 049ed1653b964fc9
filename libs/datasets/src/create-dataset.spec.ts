import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDataset, type CreateDatasetOptions } from './create-dataset.js';
import { DatasetDirectory } from './dataset-directory.js';

const NUM_GROUPS = 6;
const GROUP_SIZE = 2;

/** Episode `ordinal` belongs to group `ordinal / 2`; the second member of a group has the smaller return. */
function playedEpisode(logId: string, runId: string, ordinal: number) {
  const group = Math.floor(ordinal / GROUP_SIZE);
  return episodeEvents({
    logId,
    runId,
    ordinal,
    numSteps: 2,
    step: (step) => ({
      observation: step === 0 ? `start ${group}` : `then ${ordinal}`,
      action: `act ${ordinal} ${step}`,
      reward: ordinal % GROUP_SIZE === 0 ? 1 : 0,
      anchor: `state ${group} ${step}`,
    }),
    started: { environment: 'grid', task: { level: group }, environmentSeed: group },
    ended: { finalObservation: 'the end' },
  });
}

describe('createDataset', () => {
  let store: StoreFixture;
  let root: string;
  let directory: DatasetDirectory;
  let episodeIds: string[];
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreFixture();
    const ids = { logId: store.log.logId, runId };
    await appendEvents(store.log, [controlEvent(ids, 'RunStarted')]);
    episodeIds = [];
    for (let ordinal = 0; ordinal < NUM_GROUPS * GROUP_SIZE; ordinal += 1) {
      const events = playedEpisode(store.log.logId, runId, ordinal);
      episodeIds.push(events[0].episodeId);
      await appendEvents(store.log, events);
    }
    // Started, and never ended.
    const [started] = playedEpisode(store.log.logId, runId, 100);
    episodeIds.push(started.episodeId);
    await appendEvents(store.log, [started]);
    await catchUp(store.log, store.client);
    root = await mkdtemp(join(tmpdir(), 'retrace-datasets-'));
  });
  afterAll(async () => {
    await store.close();
    await rm(root, { recursive: true });
  });
  beforeEach(async () => {
    await rm(join(root, 'sets'), { recursive: true, force: true });
    directory = new DatasetDirectory(join(root, 'sets'));
  });

  async function* chosen(ids: readonly string[]) {
    for (const id of ids) yield Promise.resolve({ run_id: runId, episode_id: id });
  }

  const create = (options: Partial<CreateDatasetOptions> = {}, ids: readonly string[] = episodeIds) =>
    createDataset({
      client: store.client,
      directory,
      name: 'all',
      format: 'sft',
      fileFormat: 'jsonl',
      sql: 'SELECT run_id, episode_id FROM episodes',
      rows: chosen(ids),
      score: 'return',
      splitShares: null,
      seed: 0,
      dropDuplicates: false,
      requireClean: false,
      nGramWords: 13,
      createdAt: '2026-11-23T00:00:00.000Z',
      codeVersion: '0.1.0',
      log: { logId: store.log.logId, endOffsets: [0, 0] },
      ...options,
    });

  const linesOf = async (name: string, file: string) =>
    (await readFile(join(directory.path, name, file), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('writes a row for each ended episode in the order of the query, with its lineage', async () => {
    const manifest = await create();
    expect(manifest).toMatchObject({
      numEpisodes: 12,
      runIds: [runId],
      skipped: [{ reason: 'the episode has not ended', count: 1 }],
      splits: [{ split: 'train', numRows: 12 }],
    });
    const rows = await linesOf('all', manifest.splits[0].file);
    expect(rows[3]).toEqual({
      messages: [
        { role: 'user', content: 'start 1' },
        { role: 'assistant', content: 'act 3 0' },
        { role: 'user', content: 'then 3' },
        { role: 'assistant', content: 'act 3 1' },
      ],
    });
    const lineage = await linesOf('all', 'lineage.jsonl');
    expect(lineage[3]).toEqual({
      split: 'train',
      row: 3,
      members: [{ runId, episodeId: episodeIds[3], step: null }],
    });
    await expect(directory.listWithEpisode(episodeIds[3])).resolves.toMatchObject([{ name: 'all' }]);
    await expect(directory.listWithEpisode(episodeIds[12])).resolves.toEqual([]);
  });

  it('pairs the members of each group by return', async () => {
    const manifest = await create({ format: 'dpo' });
    const rows = await linesOf('all', manifest.splits[0].file);
    expect(rows).toHaveLength(NUM_GROUPS);
    expect(rows[0]).toMatchObject({
      prompt: [{ role: 'user', content: 'start 0' }],
      chosen: [{ content: 'act 0 0' }, { content: 'then 0' }, { content: 'act 0 1' }],
      rejected: [{ content: 'act 1 0' }, { content: 'then 1' }, { content: 'act 1 1' }],
      score_chosen: 2,
      score_rejected: 0,
    });
  });

  it('has the same content hash for the same episodes, in either file format', async () => {
    const jsonl = await create({ name: 'a' });
    const parquet = await create({ name: 'b', fileFormat: 'parquet' });
    const fewer = await create({ name: 'c' }, episodeIds.slice(1));
    expect(parquet.contentHash).toBe(jsonl.contentHash);
    expect(fewer.contentHash).not.toBe(jsonl.contentHash);
  });

  it.each(['sft', 'dpo', 'reward-pairs', 'prompts', 'conversations', 'atif'] as const)(
    'writes the rows of %s to Parquet, where another reader finds the same values',
    async (format) => {
      const [{ file: lines }] = (await create({ name: 'lines', format })).splits;
      const [{ file }] = (await create({ name: 'columns', format, fileFormat: 'parquet' })).splits;
      const read = await parquetReadObjects({
        file: await asyncBufferFromFile(join(directory.path, 'columns', file)),
      });
      const rows = await linesOf('lines', lines);
      expect(read).toHaveLength(rows.length);
      // A nested value in a text column is JSON; a struct has all its fields, null where the row has none.
      const plain = JSON.parse(
        JSON.stringify(read, (_, value: unknown) =>
          typeof value === 'bigint' ? Number(value) : (value ?? undefined),
        ),
      ) as Record<string, unknown>[];
      // The info of a turn may be anything, so its column is JSON, too.
      for (const row of plain) {
        for (const turn of (row.conversations ?? []) as { info?: unknown }[]) {
          if (turn.info !== undefined) turn.info = JSON.parse(turn.info as string);
        }
      }
      const asText = (row: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof plain[0][name] === 'string' && typeof value !== 'string' ? JSON.stringify(value) : value,
          ]),
        );
      expect(plain).toEqual(
        rows.map(
          (row) => JSON.parse(JSON.stringify(asText(row), (_, v: unknown) => v ?? undefined)) as unknown,
        ),
      );
    },
  );

  it('puts all episodes of a task into one split, and reports nothing shared', async () => {
    const manifest = await create({ splitShares: { train: 0.5, test: 0.5 }, seed: 3 });
    expect(manifest.splits.map(({ split }) => split)).toEqual(['test', 'train']);
    expect(manifest.contamination.splits).toMatchObject([
      { numRowsWithSharedTask: 0, numRowsWithSharedAnchor: 0, numRowsWithSharedNGram: 0 },
    ]);
  });

  it('refuses splits that share tasks when a clean data set is wanted, and leaves nothing behind', async () => {
    async function* rows() {
      for (const [index, id] of episodeIds.slice(0, 4).entries())
        yield Promise.resolve({ run_id: runId, episode_id: id, split: index < 3 ? 'train' : 'test' });
    }
    await expect(create({ rows: rows(), requireClean: true })).rejects.toMatchObject({
      code: 'CONTAMINATED',
    });
    expect(await readdir(directory.path)).toEqual([]);
  });

  it('drops rows whose conversations are equal, or counts them', async () => {
    const pair = [episodeIds[0], episodeIds[1]];
    const prompts = { format: 'prompts' } as const;
    await expect(create({ ...prompts, name: 'kept' }, pair)).resolves.toMatchObject({
      numDuplicates: 1,
      splits: [{ numRows: 2 }],
    });
    await expect(create({ ...prompts, name: 'dropped', dropDuplicates: true }, pair)).resolves.toMatchObject({
      numDuplicates: 1,
      splits: [{ numRows: 1 }],
    });
  });

  it('never changes a data set, and finds a file that was changed', async () => {
    const { splits } = await create();
    await expect(create()).rejects.toMatchObject({ code: 'DATASET_EXISTS' });
    await expect(directory.verify('all')).resolves.toMatchObject({ name: 'all' });
    await writeFile(join(directory.path, 'all', splits[0].file), '{}\n');
    await expect(directory.verify('all')).rejects.toMatchObject({ code: 'DATASET_DAMAGED' });
    await writeFile(join(directory.path, 'all', 'manifest.json'), '[]\n');
    await expect(directory.read('all')).rejects.toThrow('holds no JSON object; must be the manifest');
  });

  it('says why a selection gives no row', async () => {
    await expect(create({}, [])).rejects.toThrow('would have no row: the query chose no episode');
    await expect(create({}, [episodeIds[12]])).rejects.toThrow('1 × the episode has not ended');
    await expect(create({ name: '../x' })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});
