import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { type AnyEvent, episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents, sampleStep } from '@retrace/trajectory/testing';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { askedMoment } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { storeRichEpisode } from '../testing/rich-episode.js';
import { ServedStore } from '../testing/served-store.js';
import { TokenTexts } from '../tokens/token-texts.js';
import { BranchService } from './branch.service.js';
import { IS_POORER } from './episode-filter.js';
import { type EpisodeRecordRow, readEpisodeHeading, GET_EPISODE_RECORDS } from './episode-heading.js';
import { EpisodeListService } from './episode-list.service.js';
import { toEpisodeListItem } from './episode-row.js';
import { EpisodeService } from './episode.service.js';
import { type EpisodeListItem, EpisodesQuery } from './episodes.dto.js';
import { ForkService } from './fork.service.js';
import { selectSteps, type StepRow } from './step-row.js';

const NUM_STEPS = 20;
const SECOND_US = 1_000_000;

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

let served: ServedStore<WatchedStore>;
let episodes: EpisodeService;
let forks: ForkService;
let branches: BranchService;
let list: EpisodeListService;

beforeAll(async () => {
  served = await ServedStore.open(WatchedStore);
  const changes = new ControlChanges(served.fixture.log, served.store);
  forks = new ForkService(served.store, changes);
  const starts = new RunStarts(served.store, changes);
  episodes = new EpisodeService(served.store, starts, new TokenTexts(served.config), forks);
  branches = new BranchService(served.store, starts, forks);
  list = new EpisodeListService(served.store, starts);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await served.allowMerges();
});
afterAll(async () => {
  await served?.close();
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Stores an episode without some of its steps or its end, with steps 3 and 17 twice: each with another observation the second time. */
async function storeEpisode(missing: readonly number[], hasEnd: boolean) {
  const ids = { logId: served.fixture.log.logId, runId: newRunId() };
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
  await appendEvents(served.fixture.log, [controlEvent(ids, 'RunStarted')]);
  await appendEvents(served.fixture.log, [...stored, ...again]);
  await catchUp(served.fixture.log, served.fixture.client);
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
  const late = episodeEvent(
    { logId: served.fixture.log.logId, ...key },
    'StepRecorded',
    19,
    payload,
  ) as AnyEvent;
  served.store.afterSteps = async () => {
    await appendEvents(served.fixture.log, [late]);
    await catchUp(served.fixture.log, served.fixture.client);
  };
  const { steps, nextStep } = await episodes.getSteps(key, { fromStep: 18, maxSteps: 2 });
  expect([steps.map(({ step }) => step), nextStep]).toEqual([[18], null]);
});

/** Values of those columns of `view` that `row` has. */
function sameColumns(row: object, view: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(row).map((column) => [column, view[column]]));
}

/** Compares what is read of an episode with its rows of the views. */
async function expectAsViews(key: { readonly runId: string; readonly episodeId: string }) {
  const part = { fromStep: 0, maxSteps: 10 };
  const ofEpisode = 'run_id = {runId:String} AND episode_id = {episodeId:String}';
  const rows = await served.store.queryRows<StepRow>(selectSteps(ofEpisode), {
    ...key,
    ...part,
    maxTokens: 1_000,
  });
  const steps = await ofView('stored_steps', key);
  expect(rows).toEqual(steps.map((step, i) => sameColumns(rows[i], step)));
  const [episode] = await ofView('stored_episodes', key);
  const answer = await episodes.get(key, part);
  const heading = readEpisodeHeading(
    key.runId,
    await served.store.queryRows<EpisodeRecordRow>(GET_EPISODE_RECORDS, key),
  );
  if (heading === null) throw new Error('the episode has no start');
  expect(heading).toEqual({
    ...toEpisodeListItem(sameColumns(heading, episode) as unknown as EpisodeListItem),
    task: JSON.parse(episode.task as string) as unknown,
    metadata: JSON.parse(episode.metadata as string) as unknown,
    forkedFrom: {
      ...{ runId: episode.forkedFromRunId, episodeId: episode.forkedFromEpisodeId },
      step: episode.forkedFromStep,
    },
    finalObservation: episode.sealed ? episode.finalObservation : null,
  });
  const [sums] = await served.store.queryRows<object>(
    `SELECT sum(cost_usd) AS cost_usd, toUInt32(countIf(${IS_POORER})) AS num_poorer_steps FROM stored_steps WHERE ${ofEpisode}`,
    key,
  );
  expect(answer).toMatchObject({ ...heading, ...sums });
  expect(answer.steps.map(({ step }) => step)).toEqual(steps.map(({ step }) => step));
  return answer;
}

it('an episode: its answer is that of the views, with records that came twice and annotations, now and at a moment', async () => {
  await served.fixture.client.command('SYSTEM STOP MERGES events');
  const { key, occurredAtUs } = await storeRichEpisode(served.fixture);
  expect(await expectAsViews(key)).toMatchObject({
    ...{ metadata: { by: 'person' }, tags: ['kept'], costUsd: 0.5, numPoorerSteps: 1 },
    ...{ sealed: true, return: 1.5, policyVersionMin: 2, policyVersionMax: 5, endDetail: 'why' },
    ...{ environmentSeed: 17, groupMember: 1, externalId: 'ticket 4711' },
  });
  const beforeEnd = await askedMoment.run(occurredAtUs + 2.5 * SECOND_US, () => expectAsViews(key));
  expect(beforeEnd).toMatchObject({ sealed: false, endedAt: null, costUsd: 0.5, endDetail: '' });
  expect(beforeEnd.steps.length).toBe(2);
});

it('updates of an episode: are those of the view, whatever a replaced trainer planned', async () => {
  const { key } = await storeRichEpisode(served.fixture);
  const ids = { logId: served.fixture.log.logId, runId: key.runId };
  const planned = (epoch: number, updateNumber: number, isMember = true) =>
    controlEvent(ids, 'BatchPlanned', {
      ...{ epoch, updateNumber, planId: newRunId() },
      ...(isMember ? { episodeIds: [key.episodeId, newRunId()] } : {}),
    });
  const claimed = (epoch: number) => controlEvent(ids, 'TrainerClaimed', { epoch });
  const events = [claimed(1), planned(1, 1), planned(1, 2), planned(1, 2, false), claimed(2)];
  await appendEvents(served.fixture.log, [
    ...events,
    planned(1, 3),
    planned(2, 2),
    planned(2, 4),
    planned(2, 5, false),
  ] as AnyEvent[]);
  await catchUp(served.fixture.log, served.fixture.client);
  const { updateNumbers } = await episodes.get(key, { fromStep: 0, maxSteps: 1 });
  const plannedOfView = await served.store.queryRows<{ updateNumber: number }>(
    `SELECT DISTINCT update_number FROM current_trainer_events
     WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND position(payload, {episodeId:String}) > 0 ORDER BY update_number`,
    key,
  );
  expect(updateNumbers).toEqual(plannedOfView.map(({ updateNumber }) => updateNumber));
  expect(updateNumbers).toEqual([1, 2, 4]);
});

/** Rows of a view for an episode. */
function ofView(view: string, key: Readonly<Record<string, string>>): Promise<Record<string, unknown>[]> {
  return served.store.queryRows(
    `SELECT * FROM ${view} WHERE run_id = {runId:String} AND episode_id = {episodeId:String}`,
    key,
  );
}

it.each([
  ['an end', NUM_STEPS + 2],
  ['steps', NUM_STEPS],
])('an episode without its start, with %s: no route shows it, and each says why', async (_, numRecords) => {
  const ids = { logId: served.fixture.log.logId, runId: newRunId() };
  const key = { runId: ids.runId, episodeId: episodeIdFor({ runId: ids.runId, ordinal: 0 }) };
  await appendEvents(served.fixture.log, [controlEvent(ids, 'RunStarted')]);
  await appendEvents(
    served.fixture.log,
    episodeEvents({ ...ids, ordinal: 0, numSteps: NUM_STEPS }).slice(1, numRecords),
  );
  await catchUp(served.fixture.log, served.fixture.client);
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
  const ids = { logId: served.fixture.log.logId, runId: fork };
  const anyNow = async () => {
    const before = served.store.numQueries;
    return [await forks.anyOfRun(runId), served.store.numQueries - before];
  };
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  await forks.anyOfRun(runId);
  expect(await anyNow()).toEqual([false, 0]);
  const started = { forkedFrom: { episodeId: newRunId(), step: 0 }, forkedFromRunId: runId };
  await appendEvents(served.fixture.log, [controlEvent(ids, 'RunStarted')]);
  await appendEvents(served.fixture.log, episodeEvents({ ...ids, ordinal: 0, numSteps: 1, started }));
  await catchUp(served.fixture.log, served.fixture.client);
  expect(await anyNow()).toEqual([true, 1]);
  expect(await anyNow()).toEqual([true, 0]);
});

it('whether a run has forks: what the store gets after its run has started is found ten seconds later, and a failure is not kept', async () => {
  const [runId, fork] = [newRunId(), newRunId()];
  const ids = { logId: served.fixture.log.logId, runId: fork };
  let nowMs = performance.now() + 20_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const queryRows = vi.spyOn(served.store, 'queryRows').mockRejectedValueOnce(new Error('the store is away'));
  await expect(forks.anyOfRun(runId)).rejects.toThrow('the store is away');
  expect(await forks.anyOfRun(runId)).toBe(false);
  await appendEvents(served.fixture.log, [controlEvent(ids, 'RunStarted')]);
  await catchUp(served.fixture.log, served.fixture.client);
  expect(await forks.anyOfRun(runId)).toBe(false);
  const started = { forkedFrom: { episodeId: newRunId(), step: 0 }, forkedFromRunId: runId };
  await appendEvents(served.fixture.log, episodeEvents({ ...ids, ordinal: 0, numSteps: 1, started }));
  await catchUp(served.fixture.log, served.fixture.client);
  queryRows.mockClear();
  expect([await forks.anyOfRun(runId), queryRows.mock.calls.length]).toEqual([false, 0]);
  nowMs += 10_001;
  expect(await forks.anyOfRun(runId)).toBe(true);
});
