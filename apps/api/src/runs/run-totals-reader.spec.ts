import { newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { askedMoment } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { ServedStore } from '../testing/served-store.js';
import { TimedStore } from '../testing/timed-store.js';
import { RunFactsReader } from './run-facts.js';
import { RunTotalsReader } from './run-totals-reader.js';

/** Longer than any answer takes. */
const PATIENCE_MS = 100_000;
const SECOND_US = 1_000_000;

let served: ServedStore<TimedStore>;

beforeAll(async () => {
  served = await ServedStore.open(TimedStore);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await served.allowMerges();
});
afterAll(async () => {
  await served?.close();
});

function totalsReader(): RunTotalsReader {
  const changes = new ControlChanges(served.fixture.log, served.store, PATIENCE_MS);
  return new RunTotalsReader(served.store, new RunFactsReader(served.store, changes), changes);
}

function newRun() {
  const ids = { logId: served.fixture.log.logId, runId: newRunId() };
  return { ids, started: controlEvent(ids, 'RunStarted') };
}

/** A run of one episode that has ended, and a reader by the clock of the store. */
async function endedRun() {
  const { ids, started } = newRun();
  const reader = totalsReader();
  served.store.queryMs = 1_000;
  await served.write(
    started,
    ...episodeEvents({ ...ids, ordinal: 0 }),
    controlEvent(ids, 'RunEnded') as AnyEvent,
  );
  vi.spyOn(performance, 'now').mockImplementation(() => served.store.nowMs);
  return { ids, reader };
}

/** The totals of a run as the views have them. */
async function totalsOfViews(runId: string) {
  const [episodes] = await served.fixture.client.queryRows(
    `SELECT count() AS numEpisodes, countIf(NOT sealed) AS numOngoing, countIf(success) AS numSuccesses, countIf(NOT success) AS numFailures,
       avg(return) AS meanReturn, sumIf(ifNull(num_steps, 0), sealed) AS numSteps
     FROM episodes WHERE run_id = {runId:String}`,
    { params: { runId } },
  );
  const [usage] = await served.fixture.client.queryRows(
    `SELECT sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens, sum(cost_usd) AS costUsd
     FROM steps WHERE run_id = {runId:String}`,
    { params: { runId } },
  );
  return { ...(episodes as object), ...(usage as object) };
}

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
  await served.write(started, ...episodes, ...ongoing, ...episodeEvents({ ...early.ids, ordinal: 0 }));
  await served.storeAgain(ids.runId, "episode_id != ''");
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
  const addEpisode = () => served.write(...episodeEvents({ ...ids, ordinal: ordinal++ }));
  /** With queries of a second each. */
  const asked = async () => {
    vi.spyOn(performance, 'now').mockImplementation(() => served.store.nowMs);
    const found = await numEpisodes();
    vi.restoreAllMocks();
    return found;
  };
  served.store.queryMs = 1_000;
  await served.write(started);
  await addEpisode();
  expect(await asked()).toBe(1);
  await addEpisode();
  expect(await asked()).toBe(1);
  served.store.nowMs += 10_000;
  expect(await asked()).toBe(2);
  await addEpisode();
  expect(await askedMoment.run(Date.now() * 1000 + SECOND_US, asked)).toBe(3);
  expect(await asked()).toBe(2);
  reader.forget(ids.runId);
  expect(await asked()).toBe(3);
  await addEpisode();
  await served.write(controlEvent(ids, 'RunEnded') as AnyEvent);
  expect(await asked()).toBe(4);
});

it('totals of a run that has ended: are read again only when the store has other rows of its episodes', async () => {
  const { ids, reader } = await endedRun();
  /** After those of before are no longer answered without a look at the store. */
  const askedLater = async () => {
    served.store.nowMs += 10_001;
    const before = served.store.numQueries;
    const { numEpisodes } = (await reader.read([ids.runId]))(ids.runId);
    return [numEpisodes, served.store.numQueries - before];
  };
  await askedLater();
  expect(await askedLater()).toEqual([1, 1]);
  await served.write(...episodeEvents({ ...ids, ordinal: 1 }));
  expect(await askedLater()).toEqual([2, 3]);
  await served.storeAgain(ids.runId, "episode_id != ''");
  expect((await askedLater())[0]).toBe(2);
});

it('totals of a run that has ended: are read again after a minute, since a rebuild may mend rows in their places', async () => {
  const { ids, reader } = await endedRun();
  const stepsAfter = async (passedMs: number) => {
    served.store.nowMs += passedMs;
    return (await reader.read([ids.runId]))(ids.runId).numSteps;
  };
  const numSteps = await stepsAfter(0);
  await served.fixture.client.command(
    "ALTER TABLE events UPDATE num_steps = 77 WHERE run_id = {runId:String} AND kind = 'EpisodeEnded' SETTINGS mutations_sync = 2",
    { params: { runId: ids.runId } },
  );
  // Taken over several times: their age is that of the reading.
  for (let i = 0; i < 4; i++) expect(await stepsAfter(11_000)).toBe(numSteps);
  expect(await stepsAfter(20_000)).toBe(77);
});

it('totals of runs: those of a run that goes on are asked for beside the rows of one that has ended', async () => {
  const [ended, ongoing] = [newRun(), newRun()];
  await served.write(ended.started, ongoing.started, ...episodeEvents({ ...ongoing.ids, ordinal: 0 }));
  await served.write(controlEvent(ended.ids, 'RunEnded') as AnyEvent);
  const changes = new ControlChanges(served.fixture.log, served.store, PATIENCE_MS);
  const facts = new RunFactsReader(served.store, changes);
  await facts.all();
  const reader = new RunTotalsReader(served.store, facts, changes);
  const asked = vi.spyOn(served.store, 'queryRows');
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  served.store.afterQuery = async () => void (await opened);
  const answer = reader.read([ended.ids.runId, ongoing.ids.runId]);
  await vi.waitFor(() =>
    expect(asked.mock.calls.map(([, params]) => params.runIds)).toEqual([
      [ended.ids.runId],
      [ongoing.ids.runId],
      [ongoing.ids.runId],
    ]),
  );
  gate.emit('open');
  expect((await answer)(ongoing.ids.runId).numEpisodes).toBe(1);
});

it('totals of a run: while new ones are being read, a question is answered with those of at most ten seconds before', async () => {
  const { ids, started } = newRun();
  const changes = new ControlChanges(served.fixture.log, served.store, 0);
  const reader = new RunTotalsReader(served.store, new RunFactsReader(served.store, changes), changes);
  const numEpisodes = async () => (await reader.read([ids.runId]))(ids.runId).numEpisodes;
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  await served.write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  expect(await numEpisodes()).toBe(1);
  await served.write(...episodeEvents({ ...ids, ordinal: 1 }));
  nowMs = 9_000;
  // Until the test ends the reading.
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  served.store.afterQuery = async () => void (await opened);
  expect([await numEpisodes(), await numEpisodes()]).toEqual([1, 1]);
  nowMs += 2_000;
  const answer = numEpisodes();
  gate.emit('open');
  expect(await answer).toBe(2);
});

it('totals of a run: where new ones can not be read ahead, those of before are the answer, and the next question reads them', async () => {
  const { ids, started } = newRun();
  const reader = totalsReader();
  const numEpisodes = async () => (await reader.read([ids.runId]))(ids.runId).numEpisodes;
  served.store.queryMs = 1_000;
  await served.write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  vi.spyOn(performance, 'now').mockImplementation(() => served.store.nowMs);
  expect(await numEpisodes()).toBe(1);
  await served.write(...episodeEvents({ ...ids, ordinal: 1 }));
  served.store.nowMs += 8_000;
  const failed = new EventEmitter();
  const failing = once(failed, 'failed');
  served.store.afterQuery = async () => {
    failed.emit('failed');
    throw new Error('the store is away');
  };
  expect(await numEpisodes()).toBe(1);
  await failing;
  served.store.nowMs += 10_000;
  await vi.waitFor(async () => expect(await numEpisodes()).toBe(2));
});

it('totals of a run: those that were read during a deletion are not kept', async () => {
  const { ids, started } = newRun();
  const changes = new ControlChanges(served.fixture.log, served.store, PATIENCE_MS);
  const facts = new RunFactsReader(served.store, changes);
  const reader = new RunTotalsReader(served.store, facts, changes);
  served.store.queryMs = 1_000;
  await served.write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  // Before the facts are read, which have an age too.
  vi.spyOn(performance, 'now').mockImplementation(() => served.store.nowMs);
  await facts.all();
  served.store.afterQuery = async () => reader.forget(ids.runId);
  await reader.read([ids.runId]);
  const before = served.store.numQueries;
  await reader.read([ids.runId]);
  expect(served.store.numQueries - before).toBe(2);
});

it('totals of a run: are those that were kept, though they go while the ones of another run are read', async () => {
  const [kept, other] = [newRun(), newRun()];
  const reader = totalsReader();
  served.store.queryMs = 1_000;
  for (const { ids, started } of [kept, other])
    await served.write(started, ...episodeEvents({ ...ids, ordinal: 0 }));
  vi.spyOn(performance, 'now').mockImplementation(() => served.store.nowMs);
  await reader.read([kept.ids.runId]);
  served.store.afterQuery = async () => reader.forget(kept.ids.runId);
  const totalsOf = await reader.read([other.ids.runId, kept.ids.runId]);
  expect([kept, other].map(({ ids }) => totalsOf(ids.runId).numEpisodes)).toEqual([1, 1]);
});
