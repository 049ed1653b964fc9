import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents, sampleStep } from '@retrace/trajectory/testing';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { configOver } from '../testing/store-config.js';
import { TokenTexts } from '../tokens/token-texts.js';
import { BranchService } from './branch.service.js';
import { EpisodeListService } from './episode-list.service.js';
import { EpisodeService } from './episode.service.js';
import { EpisodesQuery } from './episodes.dto.js';
import { ForkService } from './fork.service.js';

const NUM_STEPS = 20;

/** A store of which a test knows what happens after steps were read. */
class WatchedStore extends StoreService {
  afterSteps: (() => Promise<void>) | null = null;

  override async queryRows<Row>(sql: string, params: Readonly<Record<string, unknown>>): Promise<Row[]> {
    const rows = await super.queryRows<Row>(sql, params);
    const { afterSteps } = this;
    if (afterSteps === null || !sql.includes('num_tokens_to_here')) return rows;
    this.afterSteps = null;
    await afterSteps();
    return rows;
  }
}

let fixture: StoreFixture;
let store: WatchedStore;
let episodes: EpisodeService;
let forks: ForkService;
let branches: BranchService;
let list: EpisodeListService;

beforeAll(async () => {
  fixture = await openStoreFixture();
  const config = configOver(fixture);
  store = new WatchedStore(config);
  store.takeAsReady();
  const changes = new ControlChanges(fixture.log, store);
  forks = new ForkService(store, changes);
  const starts = new RunStarts(store, changes);
  episodes = new EpisodeService(store, starts, new TokenTexts(config), forks);
  branches = new BranchService(store, starts, forks);
  list = new EpisodeListService(store, starts);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await store?.onApplicationShutdown();
  await fixture?.close();
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Stores an episode without some of its steps or its end, with steps 3 and 17 twice: each with another observation the second time. */
async function storeEpisode(missing: readonly number[], hasEnd: boolean) {
  const ids = { logId: fixture.log.logId, runId: newRunId() };
  const key = { runId: ids.runId, episodeId: episodeIdFor({ runId: ids.runId, ordinal: 0 }) };
  const steps = range(0, NUM_STEPS - 1).map((step) => ({ ...sampleStep(), step, observation: 'first' }));
  const stored = episodeEvents({ ...ids, ordinal: 0, steps }).filter(({ kind, seq }) => {
    if (kind === 'StepRecorded') return !missing.includes(seq - 1);
    return kind !== 'EpisodeEnded' || hasEnd;
  });
  const again = [3, 17].map((step) => {
    const payload = { ...sampleStep(), step, observation: 'second' };
    return episodeEvent({ ...ids, ...key }, 'StepRecorded', step + 1, payload) as AnyEvent;
  });
  await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted')]);
  await appendEvents(fixture.log, [...stored, ...again]);
  await catchUp(fixture.log, fixture.client);
  return key;
}

it.each([
  ['first steps and some others', [...range(0, 2), ...range(6, 15)], true],
  ['more steps than an answer has', [...range(4, 13), 19], false],
  ['the last step', [19], true],
] as const)(
  'steps of an episode that lacks %s: asking for the next ones gives each that is stored once',
  async (_, missing, hasEnd) => {
    const key = await storeEpisode(missing, hasEnd);
    const observations = new Map<number, string>();
    for (let next: number | null = 0; next !== null;) {
      const answer = await episodes.getSteps(key, { fromStep: next, maxSteps: 2 });
      const numBefore = observations.size;
      for (const { step, observation } of answer.steps) observations.set(step, observation);
      expect(observations.size - numBefore).toBe(answer.steps.length);
      next = answer.nextStep;
    }
    const stored = range(0, NUM_STEPS - 1).filter((step) => !missing.some((one) => one === step));
    expect([...observations.keys()]).toEqual(stored);
    const ofTwice = [3, 17].filter((step) => observations.has(step)).map((step) => observations.get(step));
    expect(new Set(ofTwice)).toEqual(new Set(['first']));
  },
);

it('steps that are stored just after the rows were read, before their range is, are in the answer', async () => {
  const key = await storeEpisode(range(0, NUM_STEPS - 1), false);
  const payload = { ...sampleStep(), step: 18, observation: 'late' };
  const late = episodeEvent({ logId: fixture.log.logId, ...key }, 'StepRecorded', 19, payload) as AnyEvent;
  store.afterSteps = async () => {
    await appendEvents(fixture.log, [late]);
    await catchUp(fixture.log, fixture.client);
  };
  const { steps, nextStep } = await episodes.getSteps(key, { fromStep: 18, maxSteps: 2 });
  expect([steps.map(({ step }) => step), nextStep]).toEqual([[18], null]);
});

it('an episode: its answer is that of the views, with records that came twice and annotations', async () => {
  const ids = { logId: fixture.log.logId, runId: newRunId() };
  const key = { runId: ids.runId, episodeId: episodeIdFor({ runId: ids.runId, ordinal: 0 }) };
  const started = {
    task: { level: 3 },
    metadata: { by: 'start' },
    forkedFrom: { episodeId: newRunId(), step: 2 },
  };
  const usage = {
    inputTokens: 5,
    cachedInputTokens: null,
    outputTokens: 2,
    reasoningTokens: null,
    costUsd: 0.25,
  };
  const first = episodeEvents({
    ...ids,
    ordinal: 0,
    numSteps: 3,
    started,
    step: () => ({ usage, actionValid: null }),
  });
  const annotations = [
    { metadata: { by: 'person' }, tags: null },
    { metadata: null, tags: ['kept'] },
  ].map((annotation, i) => episodeEvent({ ...ids, ...key }, 'EpisodeAnnotated', i + 1, annotation as never));
  await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted') as AnyEvent]);
  await appendEvents(fixture.log, [...first, ...(annotations as AnyEvent[])]);
  await catchUp(fixture.log, fixture.client);
  // Of two records with one number the first counts. The later ones are of another log, since this one ends before them.
  await fixture.client.command(
    `INSERT INTO events SELECT * REPLACE ('other' AS log_id, log_offset + 1000 AS log_offset, 'later' AS observation, 'later' AS group_id, true AS success, 9 AS num_steps)
     FROM (SELECT * FROM events WHERE run_id = {runId:String} AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded'))`,
    { params: { runId: ids.runId } },
  );
  const { steps, ...answer } = await episodes.get(key, { fromStep: 0, maxSteps: 10 });
  const [episode] = await ofView('stored_episodes', key);
  const { environmentSeed, groupId, success, numTokens, numSteps, tags, finalObservation, endDetail } =
    episode;
  expect(answer).toMatchObject({
    environmentSeed,
    groupId,
    success,
    numTokens,
    numSteps,
    tags,
    finalObservation,
    endDetail,
  });
  expect([answer.task, answer.metadata]).toEqual([
    JSON.parse(episode.task as string),
    JSON.parse(episode.metadata as string),
  ]);
  expect(answer.forkedFrom).toEqual({
    ...{
      runId: episode.forkedFromRunId,
      episodeId: episode.forkedFromEpisodeId,
      step: episode.forkedFromStep,
    },
  });
  expect([answer.metadata, answer.tags, answer.costUsd]).toEqual([{ by: 'person' }, ['kept'], 0.75]);
  const rows = await ofView('stored_steps', key);
  expect(
    steps.map(({ tokens, usage: used, ...step }) => [
      step.step,
      step.observation,
      step.actionValid,
      step.generationMs,
      tokens.ids,
      used,
    ]),
  ).toEqual(
    rows.map((row) => [row.step, row.observation, row.actionValid, row.generationMs, row.tokenIds, usage]),
  );
});

/** Rows of a view for an episode. */
function ofView(view: string, key: Readonly<Record<string, string>>): Promise<Record<string, unknown>[]> {
  return store.queryRows(
    `SELECT * FROM ${view} WHERE run_id = {runId:String} AND episode_id = {episodeId:String}`,
    key,
  );
}

it.each([
  ['an end', NUM_STEPS + 2],
  ['steps', NUM_STEPS],
])('an episode without its start, with %s: no route shows it, and each says why', async (_, numRecords) => {
  const ids = { logId: fixture.log.logId, runId: newRunId() };
  const key = { runId: ids.runId, episodeId: episodeIdFor({ runId: ids.runId, ordinal: 0 }) };
  await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted')]);
  await appendEvents(
    fixture.log,
    episodeEvents({ ...ids, ordinal: 0, numSteps: NUM_STEPS }).slice(1, numRecords),
  );
  await catchUp(fixture.log, fixture.client);
  const part = (fromStep: number) => ({ fromStep, maxSteps: 2 });
  const missing = { message: expect.stringContaining('not found; its start is not in the store') };
  await expect(episodes.get(key, part(0))).rejects.toMatchObject(missing);
  for (const fromStep of [0, NUM_STEPS])
    await expect(episodes.getSteps(key, part(fromStep))).rejects.toMatchObject(missing);
  await expect(branches.of(key)).rejects.toMatchObject(missing);
  expect((await list.list(key.runId, new EpisodesQuery())).items).toEqual([]);
  const other = { ...key, episodeId: newRunId() };
  await expect(episodes.get(other, part(0))).rejects.toThrow('may not be stored yet');
});

it('whether a run has forks is asked of the store once, and again when a run has started', async () => {
  const [runId, fork] = [newRunId(), newRunId()];
  const ids = { logId: fixture.log.logId, runId: fork };
  const anyNow = async () => {
    const before = store.numQueries;
    return [await forks.anyOfRun(runId), store.numQueries - before];
  };
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  await forks.anyOfRun(runId);
  expect(await anyNow()).toEqual([false, 0]);
  const started = { forkedFrom: { episodeId: newRunId(), step: 0 }, forkedFromRunId: runId };
  await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted')]);
  await appendEvents(fixture.log, episodeEvents({ ...ids, ordinal: 0, numSteps: 1, started }));
  await catchUp(fixture.log, fixture.client);
  expect(await anyNow()).toEqual([true, 1]);
  expect(await anyNow()).toEqual([true, 0]);
});

it('whether a run has forks: what the store gets after its run has started is found ten seconds later, and a failure is not kept', async () => {
  const [runId, fork] = [newRunId(), newRunId()];
  const ids = { logId: fixture.log.logId, runId: fork };
  let nowMs = performance.now() + 20_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const queryRows = vi.spyOn(store, 'queryRows').mockRejectedValueOnce(new Error('the store is away'));
  await expect(forks.anyOfRun(runId)).rejects.toThrow('the store is away');
  expect(await forks.anyOfRun(runId)).toBe(false);
  await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted')]);
  await catchUp(fixture.log, fixture.client);
  expect(await forks.anyOfRun(runId)).toBe(false);
  const started = { forkedFrom: { episodeId: newRunId(), step: 0 }, forkedFromRunId: runId };
  await appendEvents(fixture.log, episodeEvents({ ...ids, ordinal: 0, numSteps: 1, started }));
  await catchUp(fixture.log, fixture.client);
  queryRows.mockClear();
  expect([await forks.anyOfRun(runId), queryRows.mock.calls.length]).toEqual([false, 0]);
  nowMs += 10_001;
  expect(await forks.anyOfRun(runId)).toBe(true);
});
