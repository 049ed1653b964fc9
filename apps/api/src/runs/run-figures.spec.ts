import { appendEvents } from '@retrace/log/testing';
import { catchUp, deleteRunRecords } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { askedMoment } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { configOver } from '../testing/store-config.js';
import { RunActivityReader } from './run-activity.js';
import { RunFactsReader } from './run-facts.js';
import { RunTotalsReader } from './run-totals-reader.js';
import { RunsAhead } from './runs-ahead.js';
import { RunsQuery } from './runs-query.dto.js';
import { RunsService } from './runs.service.js';

/** Longer than any answer takes. */
const PATIENCE_MS = 100_000;
const NOW_US = Date.now() * 1000;
const SECOND_US = 1_000_000;

/** A store of which a test knows how long queries take, and what happens after one. */
class WatchedStore extends StoreService {
  queryMs = 0;
  nowMs = 0;
  afterQuery: (() => Promise<void>) | null = null;

  override async queryRows<Row>(sql: string, params: Readonly<Record<string, unknown>>): Promise<Row[]> {
    const rows = await super.queryRows<Row>(sql, params);
    this.nowMs += this.queryMs;
    const { afterQuery } = this;
    this.afterQuery = null;
    await afterQuery?.();
    return rows;
  }
}

let fixture: StoreFixture;
let store: WatchedStore;

beforeAll(async () => {
  fixture = await openStoreFixture();
  store = new WatchedStore(configOver(fixture));
  store.takeAsReady();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fixture.client.command('SYSTEM START MERGES events');
});
afterAll(async () => {
  await store?.onApplicationShutdown();
  await fixture?.close();
});

async function write(...events: readonly AnyEvent[]): Promise<void> {
  for (const event of events) await appendEvents(fixture.log, [event]);
  await catchUp(fixture.log, fixture.client);
}

function totalsReader(): RunTotalsReader {
  const changes = new ControlChanges(fixture.log, store, PATIENCE_MS);
  return new RunTotalsReader(store, new RunFactsReader(store, changes), changes);
}

/** Ids of a new run, and its metrics. */
function newRun() {
  const ids = { logId: fixture.log.logId, runId: newRunId() };
  const logged = (step: number, occurredAtUs: number) =>
    controlEvent({ ...ids, occurredAtUs }, 'MetricsLogged', {
      ...{ source: 'trainer', step, names: ['train/loss'], values: Float64Array.of(step) },
    }) as AnyEvent;
  return {
    ids,
    logged,
    started: controlEvent({ ...ids, occurredAtUs: NOW_US - 60 * SECOND_US }, 'RunStarted'),
  };
}

/** Stores records of a run again, as an insert that is repeated does, and leaves both until the test ends. */
async function storeAgain(runId: string, condition: string): Promise<void> {
  await fixture.client.command('SYSTEM STOP MERGES events');
  const rows = `SELECT * FROM events WHERE run_id = {runId:String} AND ${condition}`;
  await fixture.client.command(`INSERT INTO events ${rows}`, { params: { runId } });
}

/** The totals of a run as the views have them. */
async function totalsOfViews(runId: string) {
  const [episodes] = await fixture.client.queryRows(
    `SELECT count() AS numEpisodes, countIf(NOT sealed) AS numOngoing, countIf(success) AS numSuccesses, countIf(NOT success) AS numFailures,
       avg(return) AS meanReturn, sumIf(ifNull(num_steps, 0), sealed) AS numSteps
     FROM episodes WHERE run_id = {runId:String}`,
    { params: { runId } },
  );
  const [usage] = await fixture.client.queryRows(
    `SELECT sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens, sum(cost_usd) AS costUsd
     FROM steps WHERE run_id = {runId:String}`,
    { params: { runId } },
  );
  return { ...(episodes as object), ...(usage as object) };
}

it('progress of a run: an update that is stored twice counts', async () => {
  const { ids, logged, started } = newRun();
  const reader = new RunActivityReader(store, new ControlChanges(fixture.log, store, PATIENCE_MS));
  const lossOf = async () => (await reader.read([ids.runId]))(ids.runId).latest['train/loss'];
  await write(started, logged(1, NOW_US));
  expect(await lossOf()).toBe(1);
  await write(logged(2, NOW_US));
  await storeAgain(ids.runId, 'metric_step = 2');
  expect(await lossOf()).toBe(2);
});

it('progress of a run at an earlier moment: has nothing that was read for now', async () => {
  const { ids, logged, started } = newRun();
  const reader = new RunActivityReader(store, new ControlChanges(fixture.log, store, PATIENCE_MS));
  const lossOf = async () => (await reader.read([ids.runId]))(ids.runId).latest['train/loss'];
  await write(started, logged(1, NOW_US - 30 * SECOND_US));
  // The next update is stored while progress is read.
  store.afterQuery = () => write(logged(2, NOW_US));
  await lossOf();
  expect(await lossOf()).toBe(2);
  expect(await askedMoment.run(NOW_US - 20 * SECOND_US, lossOf)).toBe(1);
  expect(await lossOf()).toBe(2);
});

it('runs at an earlier moment: their recipes are compared only where that is asked for', async () => {
  const { ids, started } = newRun();
  const facts = new RunFactsReader(store, new ControlChanges(fixture.log, store, PATIENCE_MS));
  await write(started);
  const originsOf = async (origins: boolean) => {
    const run = (await facts.all({ origins })).get(ids.runId);
    return [typeof run?.seedsKey, run?.startedFrom];
  };
  const earlier = (origins: boolean) => askedMoment.run(NOW_US, () => originsOf(origins));
  expect(await earlier(false)).toEqual(['object', null]);
  expect(await earlier(true)).toEqual(['string', '']);
  expect(await originsOf(false)).toEqual(['string', '']);
});

it('totals of a run: are those of the views, with records stored twice and ongoing episodes', async () => {
  const [{ ids, started }, early] = [newRun(), newRun()];
  const usage = { cachedInputTokens: null, reasoningTokens: null, costUsd: 0.25 };
  const ends = [
    { success: true, return: 1 },
    { success: false, return: 4 },
    { success: null, return: null },
  ];
  const episodes = ends.flatMap((ended, ordinal) =>
    episodeEvents({
      ...{ ...ids, ordinal, numSteps: 2, ended },
      step: (step) => ({
        usage: { ...usage, inputTokens: 10 + step, outputTokens: ordinal === 2 ? null : 3 },
      }),
    }),
  );
  const ongoing = episodeEvents({ ...ids, ordinal: 3, numSteps: 1 }).slice(0, -1);
  await write(started, ...episodes, ...ongoing, ...episodeEvents({ ...early.ids, ordinal: 0 }));
  await storeAgain(ids.runId, "episode_id != ''");
  const reader = totalsReader();
  const totalsOf = await reader.read([ids.runId, early.ids.runId]);
  expect(totalsOf(ids.runId)).toEqual({
    ...{ numEpisodes: 4, numOngoing: 1, numSuccesses: 1, numFailures: 1, meanReturn: 2.5, numSteps: 6 },
    // 10 + 11 of each of three episodes, 3 of each of four steps.
    ...{ inputTokens: 63, outputTokens: 12, costUsd: 1.5 },
  });
  expect(await totalsOfViews(ids.runId)).toEqual(totalsOf(ids.runId));
  expect(totalsOf(early.ids.runId)).toMatchObject({ numEpisodes: 0, numSteps: 0, costUsd: null });
});

it('totals of a run: are kept for ten seconds at most, and not beyond the end of the run or a deletion', async () => {
  const { ids, started } = newRun();
  const reader = totalsReader();
  const numEpisodes = async () => (await reader.read([ids.runId]))(ids.runId).numEpisodes;
  let ordinal = 0;
  const addEpisode = () => write(...episodeEvents({ ...ids, ordinal: ordinal++ }));
  /** With queries of a second each. */
  const asked = async () => {
    vi.spyOn(performance, 'now').mockImplementation(() => store.nowMs);
    const found = await numEpisodes();
    vi.restoreAllMocks();
    return found;
  };
  store.queryMs = 1_000;
  await write(started);
  await addEpisode();
  expect(await asked()).toBe(1);
  await addEpisode();
  expect(await asked()).toBe(1);
  store.nowMs += 10_000;
  expect(await asked()).toBe(2);
  await addEpisode();
  expect(await askedMoment.run(Date.now() * 1000 + SECOND_US, asked)).toBe(3);
  expect(await asked()).toBe(2);
  reader.forget(ids.runId);
  expect(await asked()).toBe(3);
  await addEpisode();
  await write(controlEvent(ids, 'RunEnded') as AnyEvent);
  expect(await asked()).toBe(4);
});

it('totals of a run that has ended: are read again only when the store has other rows of its episodes', async () => {
  const { ids, started } = newRun();
  const reader = totalsReader();
  store.queryMs = 1_000;
  await write(started, ...episodeEvents({ ...ids, ordinal: 0 }), controlEvent(ids, 'RunEnded') as AnyEvent);
  vi.spyOn(performance, 'now').mockImplementation(() => store.nowMs);
  /** After those of before are no longer answered without a look at the store. */
  const askedLater = async () => {
    store.nowMs += 10_001;
    const before = store.numQueries;
    const { numEpisodes } = (await reader.read([ids.runId]))(ids.runId);
    return [numEpisodes, store.numQueries - before];
  };
  await askedLater();
  expect(await askedLater()).toEqual([1, 1]);
  await write(...episodeEvents({ ...ids, ordinal: 1 }));
  expect(await askedLater()).toEqual([2, 3]);
  await storeAgain(ids.runId, "episode_id != ''");
  expect((await askedLater())[0]).toBe(2);
});

it('totals of a run: while new ones are being read, a question is answered with those of at most ten seconds before', async () => {
  const { ids, started } = newRun();
  const changes = new ControlChanges(fixture.log, store, 0);
  const reader = new RunTotalsReader(store, new RunFactsReader(store, changes), changes);
  const numEpisodes = async () => (await reader.read([ids.runId]))(ids.runId).numEpisodes;
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  await write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  expect(await numEpisodes()).toBe(1);
  await write(...episodeEvents({ ...ids, ordinal: 1 }));
  nowMs = 9_000;
  // Until the test ends the reading.
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  store.afterQuery = async () => void (await opened);
  expect([await numEpisodes(), await numEpisodes()]).toEqual([1, 1]);
  nowMs += 2_000;
  const answer = numEpisodes();
  gate.emit('open');
  expect(await answer).toBe(2);
});

it('totals of a run: those that were read during a deletion are not kept', async () => {
  const { ids, started } = newRun();
  const changes = new ControlChanges(fixture.log, store, PATIENCE_MS);
  const facts = new RunFactsReader(store, changes);
  const reader = new RunTotalsReader(store, facts, changes);
  store.queryMs = 1_000;
  await write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  await facts.all();
  store.afterQuery = async () => reader.forget(ids.runId);
  vi.spyOn(performance, 'now').mockImplementation(() => store.nowMs);
  await reader.read([ids.runId]);
  const before = store.numQueries;
  await reader.read([ids.runId]);
  expect(store.numQueries - before).toBe(2);
});

it('totals of a run: are those that were kept, though they go while the ones of another run are read', async () => {
  const [kept, other] = [newRun(), newRun()];
  const reader = totalsReader();
  store.queryMs = 1_000;
  for (const { ids, started } of [kept, other])
    await write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  vi.spyOn(performance, 'now').mockImplementation(() => store.nowMs);
  await reader.read([kept.ids.runId]);
  store.afterQuery = async () => reader.forget(kept.ids.runId);
  const totalsOf = await reader.read([other.ids.runId, kept.ids.runId]);
  expect([kept, other].map(({ ids }) => totalsOf(ids.runId).numEpisodes)).toEqual([1, 1]);
});

it('a run that was deleted has not started', async () => {
  const { ids, started } = newRun();
  const starts = new RunStarts(store, new ControlChanges(fixture.log, store, PATIENCE_MS));
  await write(started);
  expect(await starts.has(ids.runId)).toBe(true);
  const { log, client } = fixture;
  await deleteRunRecords({ log, client, runId: ids.runId, detail: 'by request', force: false });
  expect(await starts.has(ids.runId)).toBe(false);
});

it('runs: what their lists show is read before somebody asks, and again after a run has started', async () => {
  const changes = new ControlChanges(fixture.log, store, PATIENCE_MS);
  const facts = new RunFactsReader(store, changes);
  const activities = new RunActivityReader(store, changes);
  const totals = new RunTotalsReader(store, facts, changes);
  const runs = new RunsService(facts, activities, totals);
  const ahead = new RunsAhead(runs, facts, activities, totals, changes);
  const numAsked = async () => {
    const before = store.numQueries;
    const { items } = await runs.list(new RunsQuery());
    await runs.list({ ...new RunsQuery(), sort: 'metric', metric: 'rollout/success' });
    return [items[0].runId, store.numQueries - before];
  };
  // Of two that start at one moment, the list has the one with the greater id first.
  const [first, second, third] = [newRun(), newRun(), newRun()].sort((a, b) =>
    a.ids.runId < b.ids.runId ? -1 : 1,
  );
  await write(first.started, first.logged(1, NOW_US));
  await ahead.readAll();
  expect(await numAsked()).toEqual([first.ids.runId, 0]);
  await write(second.started);
  await ahead.readNews();
  expect(await numAsked()).toEqual([second.ids.runId, 0]);
  // While the store does not have it: once, and not every five seconds.
  await appendEvents(fixture.log, [third.started]);
  const numOfNews = async () => {
    const before = store.numQueries;
    await ahead.readNews();
    return store.numQueries - before;
  };
  expect([await numOfNews(), await numOfNews()]).toEqual([expect.toSatisfy((num) => num > 0), 0]);
  await catchUp(fixture.log, fixture.client);
  await ahead.readNews();
  expect(await numAsked()).toEqual([third.ids.runId, 0]);
});
