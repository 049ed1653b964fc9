import { appendEvents } from '@retrace/log/testing';
import { catchUp, deleteRunRecords } from '@retrace/store';
import { newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { askedMoment } from '../store/asked-moment.js';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { ServedStore } from '../testing/served-store.js';
import { TimedStore } from '../testing/timed-store.js';
import { RunActivityReader } from './run-activity.js';
import { RunFactsReader } from './run-facts.js';
import { RunTotalsReader } from './run-totals-reader.js';
import { RunsAhead } from './runs-ahead.js';
import { RunsQuery } from './runs-query.dto.js';
import { RunsService } from './runs.service.js';

/** Longer than any answer takes. */
const PATIENCE_MS = 100_000;
const BUSY_MACHINE = { timeout: 20_000 };
const NOW_US = Date.now() * 1000;
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

/** Ids of a new run, and its metrics. */
function newRun() {
  const ids = { logId: served.fixture.log.logId, runId: newRunId() };
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

it('progress of a run: an update that is stored twice counts', async () => {
  const { ids, logged, started } = newRun();
  const reader = new RunActivityReader(
    served.store,
    new ControlChanges(served.fixture.log, served.store, PATIENCE_MS),
  );
  const lossOf = async () => (await reader.read([ids.runId]))(ids.runId).latest['train/loss'];
  await served.write(started, logged(1, NOW_US));
  expect(await lossOf()).toBe(1);
  await served.write(logged(2, NOW_US));
  await served.storeAgain(ids.runId, 'metric_step = 2');
  expect(await lossOf()).toBe(2);
});

it('progress of a run: its policy is the newest of the view, whatever a replaced trainer published', async () => {
  const { ids, started } = newRun();
  const published = (epoch: number, policyVersion: number) =>
    controlEvent(ids, 'PolicyPublished', { epoch, policyVersion, parentVersion: null }) as AnyEvent;
  const claimed = (epoch: number) => controlEvent(ids, 'TrainerClaimed', { epoch }) as AnyEvent;
  await served.write(started, claimed(1), published(1, 4), claimed(2), published(1, 9), published(2, 5));
  await served.storeAgain(ids.runId, "kind = 'PolicyPublished'");
  const reader = new RunActivityReader(
    served.store,
    new ControlChanges(served.fixture.log, served.store, PATIENCE_MS),
  );
  const { policyVersion } = (await reader.read([ids.runId]))(ids.runId);
  const sql = 'SELECT max(policy_version) AS newest FROM policies WHERE run_id = {runId:String}';
  expect([{ newest: policyVersion }]).toEqual(
    await served.fixture.client.queryRows(sql, { params: { runId: ids.runId } }),
  );
  expect(policyVersion).toBe(5);
});

it('progress of a run at an earlier moment: has nothing that was read for now', async () => {
  const { ids, logged, started } = newRun();
  const reader = new RunActivityReader(
    served.store,
    new ControlChanges(served.fixture.log, served.store, PATIENCE_MS),
  );
  const lossOf = async () => (await reader.read([ids.runId]))(ids.runId).latest['train/loss'];
  await served.write(started, logged(1, NOW_US - 30 * SECOND_US));
  // The next update is stored while progress is read.
  served.store.afterQuery = () => served.write(logged(2, NOW_US));
  await lossOf();
  expect(await lossOf()).toBe(2);
  expect(await askedMoment.run(NOW_US - 20 * SECOND_US, lossOf)).toBe(1);
  expect(await lossOf()).toBe(2);
});

it('runs at an earlier moment: their recipes are compared only where that is asked for', async () => {
  const { ids, started } = newRun();
  const facts = new RunFactsReader(
    served.store,
    new ControlChanges(served.fixture.log, served.store, PATIENCE_MS),
  );
  await served.write(started);
  const originsOf = async (origins: boolean) => {
    const run = (await facts.all({ origins })).get(ids.runId);
    return [typeof run?.seedsKey, run?.startedFrom];
  };
  const earlier = (origins: boolean) => askedMoment.run(NOW_US, () => originsOf(origins));
  expect(await earlier(false)).toEqual(['object', null]);
  expect(await earlier(true)).toEqual(['string', '']);
  expect(await originsOf(false)).toEqual(['string', '']);
});

it('a run that was deleted has not started', async () => {
  const { ids, started } = newRun();
  const starts = new RunStarts(
    served.store,
    new ControlChanges(served.fixture.log, served.store, PATIENCE_MS),
  );
  await served.write(started);
  expect(await starts.has(ids.runId)).toBe(true);
  const { log, client } = served.fixture;
  await deleteRunRecords({ log, client, runId: ids.runId, detail: 'by request', force: false });
  expect(await starts.has(ids.runId)).toBe(false);
});

it('runs: what their lists and pages show is read before somebody asks, and again after a run has started or ended', async () => {
  const changes = new ControlChanges(served.fixture.log, served.store, PATIENCE_MS);
  const facts = new RunFactsReader(served.store, changes);
  const activities = new RunActivityReader(served.store, changes);
  const totals = new RunTotalsReader(served.store, facts, changes);
  const runs = new RunsService(facts, activities, totals);
  const ahead = new RunsAhead(runs, facts, activities, totals, changes);
  const readTotals = vi.spyOn(totals, 'read');
  const readAhead = () => readTotals.mock.calls.flatMap(([runIds]) => runIds);
  const numAsked = async () => {
    const before = served.store.numQueries;
    const { items } = await runs.list(new RunsQuery());
    await runs.list({ ...new RunsQuery(), sort: 'metric', metric: 'rollout/success' });
    return [items[0].runId, served.store.numQueries - before];
  };
  // Of two that start at one moment, the list has the one with the greater id first.
  const [ended, first, second, third] = Array.from({ length: 4 }, () => newRun()).sort((a, b) =>
    a.ids.runId < b.ids.runId ? -1 : 1,
  );
  await served.write(ended.started, controlEvent(ended.ids, 'RunEnded') as AnyEvent);
  await served.write(first.started, first.logged(1, NOW_US));
  await ahead.readAll();
  expect(await numAsked()).toEqual([first.ids.runId, 0]);
  await ahead.readTotalsOfNewest();
  expect(readTotals).toHaveBeenCalledWith([ended.ids.runId]);
  expect(readTotals).not.toHaveBeenCalledWith([first.ids.runId]);
  await served.write(second.started);
  await ahead.readNews();
  expect(await numAsked()).toEqual([second.ids.runId, 0]);
  // While the store does not have it: once, and not every five seconds.
  await appendEvents(served.fixture.log, [third.started]);
  const numOfNews = async () => {
    const before = served.store.numQueries;
    await ahead.readNews();
    return served.store.numQueries - before;
  };
  expect([await numOfNews(), await numOfNews()]).toEqual([expect.toSatisfy((num) => num > 0), 0]);
  await catchUp(served.fixture.log, served.fixture.client);
  await ahead.readNews();
  expect(await numAsked()).toEqual([third.ids.runId, 0]);
  // While the store does not have it, totals would be those of a run that goes on.
  readTotals.mockClear();
  const end = (one: typeof first) => controlEvent(one.ids, 'RunEnded') as AnyEvent;
  await appendEvents(served.fixture.log, [end(second), end(third), end(second)]);
  await ahead.readNews();
  expect(readAhead()).toEqual([]);
  await catchUp(served.fixture.log, served.fixture.client);
  await ahead.readNews();
  await ahead.readNews();
  expect(readAhead()).toEqual([second.ids.runId, third.ids.runId]);
  const many = Array.from({ length: 60 }, () => newRun());
  readTotals.mockClear();
  readTotals.mockResolvedValue(await totals.read([]));
  await appendEvents(served.fixture.log, many.map(end));
  await catchUp(served.fixture.log, served.fixture.client);
  await ahead.readNews();
  const newest = many.slice(-50).reverse();
  expect(readAhead()).toEqual(newest.map(({ ids }) => ids.runId));
});

it('runs: news are looked for while the totals of a run are being read ahead', async () => {
  const changes = new ControlChanges(served.fixture.log, served.store, PATIENCE_MS);
  const facts = new RunFactsReader(served.store, changes);
  const activities = new RunActivityReader(served.store, changes);
  const totals = new RunTotalsReader(served.store, facts, changes);
  const runs = new RunsService(facts, activities, totals);
  const ahead = new RunsAhead(runs, facts, activities, totals, changes);
  const { ids, started } = newRun();
  await served.write(started, controlEvent(ids, 'RunEnded') as AnyEvent);
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  const none = await totals.read([]);
  const readTotals = vi.spyOn(totals, 'read').mockImplementation(async (runIds) => {
    if (runIds.length > 0) await opened;
    return none;
  });
  const readNews = vi.spyOn(ahead, 'readNews');
  ahead.follow();
  await vi.waitFor(() => {
    expect(readTotals).toHaveBeenLastCalledWith([expect.any(String)]);
    expect(readNews).toHaveBeenCalledOnce();
  }, BUSY_MACHINE);
  gate.emit('open');
  await ahead.onModuleDestroy();
});
