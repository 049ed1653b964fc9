import type { EventLog } from '@retrace/log';
import { appendEvents, overriding } from '@retrace/log/testing';
import { catchUp, deleteRunRecords } from '@retrace/store';
import { newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { happen } from '../testing/happen.js';
import { ServedStore } from '../testing/served-store.js';
import { AlarmListService } from '../warnings/alarm-list.service.js';
import { RunActivityReader } from './run-activity.js';
import { RunFactsReader } from './run-facts.js';

const METRIC = 'rollout/success';
const NUM_RUNS = 3;
/** Longer than any answer takes. */
const PATIENCE_MS = 100_000;

let served: ServedStore<WatchedStore>;

beforeAll(async () => {
  served = await ServedStore.open(WatchedStore);
});
afterAll(async () => {
  await served?.close();
});

/** Counts the questions that it is asked. */
class WatchedStore extends StoreService {
  readonly asked: string[] = [];
  override async queryRows<Row>(sql: string, params: Readonly<Record<string, unknown>>): Promise<Row[]> {
    this.asked.push(sql);
    return super.queryRows<Row>(sql, params);
  }
}

/** The readers of a process that follows the log, or of one that keeps nothing and so asks the store each time. */
function readers(log: EventLog | null) {
  const changes = new ControlChanges(log, served.store, PATIENCE_MS);
  const facts = new RunFactsReader(served.store, changes);
  const activity = new RunActivityReader(served.store, changes);
  const starts = new RunStarts(served.store, changes);
  return { facts, activity, starts, alarms: new AlarmListService(served.store, facts, changes) };
}

async function answersOf({ facts, activity, starts, alarms }: ReturnType<typeof readers>) {
  const factsOf = new Map(await facts.all());
  const runIds = [...factsOf.keys()].sort();
  const activityOf = await activity.read(runIds);
  return {
    factsOf,
    details: await Promise.all(runIds.map((runId) => facts.detailsOf(runId))),
    started: await Promise.all(runIds.map((runId) => starts.has(runId))),
    activities: runIds.map(activityOf),
    times: new Map(await activity.lastActivityTimes()),
    newest: new Map(await activity.newestValues(METRIC)),
    alarms: await alarms.list({ limit: 500 }),
    silences: await alarms.listSilences({ limit: 500 }),
  };
}

/** Something that happens to one of the runs. */
const deed = fc.record({
  run: fc.nat(NUM_RUNS - 1),
  kind: fc.constantFrom(
    ...(['start', 'start', 'metrics', 'metrics', 'annotate', 'end', 'alarm', 'delete', 'again'] as const),
    ...(['acknowledge', 'silence', 'silence all'] as const),
    ...(['claim', 'baselines', 'policy', 'forget'] as const),
  ),
  value: fc.integer({ min: -3, max: 3 }),
  /** Whether the store has it before the next question. */
  isStored: fc.boolean(),
});

type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

function eventOf({ kind, value }: Deed, runId: string): AnyEvent | null {
  const ids = { logId: served.fixture.log.logId, runId };
  const metrics = {
    source: 'trainer',
    step: value + 4,
    names: [METRIC],
    values: Float64Array.of(value),
  } as const;
  const alarm = { severity: 'alarm', rule: `rule ${value}`, step: value + 3, numTimes: 1 } as const;
  if (kind === 'start') return controlEvent(ids, 'RunStarted', { name: `run ${value}` }) as AnyEvent;
  if (kind === 'metrics') return controlEvent(ids, 'MetricsLogged', metrics) as AnyEvent;
  if (kind === 'annotate')
    return controlEvent(ids, 'RunAnnotated', { archived: value > 1, starred: value > 0 }) as AnyEvent;
  if (kind === 'claim') return controlEvent(ids, 'TrainerClaimed', { epoch: value + 4 }) as AnyEvent;
  if (kind === 'baselines') return controlEvent(ids, 'BaselinesMeasured') as AnyEvent;
  if (kind === 'policy')
    return controlEvent(ids, 'PolicyPublished', {
      policyVersion: value + 4,
      parentVersion: null,
    }) as AnyEvent;
  if (kind === 'forget') return controlEvent(ids, 'EpisodesDeleted') as AnyEvent;
  if (kind === 'end')
    return controlEvent(ids, 'RunEnded', { reason: value > 0 ? 'failed' : 'stopped' }) as AnyEvent;
  const { rule } = alarm;
  if (kind === 'acknowledge')
    return controlEvent(ids, 'AlarmAcknowledged', { rule, message: '', note: `${value}` }) as AnyEvent;
  if (kind === 'silence' || kind === 'silence all') {
    const untilUs = (Date.now() + 3_600_000 * value) * 1000;
    const ofRuns = kind === 'silence' ? ids : { ...ids, runId: '' };
    return controlEvent(ofRuns, 'AlarmSilenced', { rule, untilUs }) as AnyEvent;
  }
  return kind === 'alarm' ? (controlEvent(ids, 'WarningRaised', alarm) as AnyEvent) : null;
}

const doDeed = (one: Deed, runId: string): Promise<void> =>
  happen(served.fixture, runId, { ...one, event: eventOf(one, runId) });

/** Otherwise the deed is only in the log, so the answers of the store are those of before. */
const changesStore = ({ kind, isStored }: Deed): boolean => isStored || kind === 'delete' || kind === 'again';

/** Each kind of event, most of which the store has at once or after the next question, with a claim after an end and a start after a deletion. */
const EACH_KIND: readonly Deed[] = (
  [
    ['start', false],
    ['metrics', true],
    ['policy', false],
    ['end', true],
    ['claim', false],
    ['metrics', true],
    ['baselines', false],
    ['alarm', true],
    ['acknowledge', false],
    ['silence', true],
    ['silence all', false],
    ['annotate', false],
    ['forget', true],
    ['again', true],
    ['delete', false],
    ['start', true],
  ] as const
).map(([kind, isStored]) => ({ run: 1, kind, value: 2, isStored }));

async function followDeeds(deeds: readonly Deed[]): Promise<void> {
  const runIds = Array.from({ length: NUM_RUNS }, () => newRunId());
  const kept = readers(served.fixture.log);
  await appendEvents(served.fixture.log, [
    controlEvent({ logId: served.fixture.log.logId, runId: runIds[0] }, 'RunStarted'),
  ]);
  await catchUp(served.fixture.log, served.fixture.client);
  await answersOf(kept);
  let ofStore = await answersOf(readers(null));
  for (const one of deeds) {
    await doDeed(one, runIds[one.run]);
    if (changesStore(one)) ofStore = await answersOf(readers(null));
    expect(await answersOf(kept)).toEqual(ofStore);
  }
  await catchUp(served.fixture.log, served.fixture.client);
  expect(await answersOf(kept)).toEqual(await answersOf(readers(null)));
}

/** A run that has started, with an alarm and metrics, as the store has it. */
async function storedRun() {
  const ids = { logId: served.fixture.log.logId, runId: newRunId() };
  const happened = { run: 0, value: 1, isStored: false } as const;
  for (const kind of ['start', 'metrics', 'alarm'] as const) await doDeed({ ...happened, kind }, ids.runId);
  await catchUp(served.fixture.log, served.fixture.client);
  return ids;
}

it('kept runs: questions without new events, also after a deletion, do not ask the store', async () => {
  const { runId } = await storedRun();
  const kept = readers(served.fixture.log);
  const numAsked = async () => {
    served.store.asked.length = 0;
    await answersOf(kept);
    return served.store.asked.length;
  };
  expect(await numAsked()).toBeGreaterThan(0);
  expect(await numAsked()).toBe(0);
  await doDeed({ run: 0, kind: 'delete', value: 0, isStored: true }, runId);
  expect(await numAsked()).toBeGreaterThan(0);
  expect(await numAsked()).toBe(0);
});

it('kept runs: the time of the newest event follows from the log, and that a run has started is asked once', async () => {
  const { runId } = await storedRun();
  const { activity, starts } = readers(served.fixture.log);
  const timeOf = async () => (await activity.lastActivityTimes()).get(runId);
  const before = await timeOf();
  expect(await starts.has(runId)).toBe(true);
  await doDeed({ run: 0, kind: 'metrics', value: 1, isStored: false }, runId);
  served.store.asked.length = 0;
  expect(await timeOf()).toBe(before);
  await catchUp(served.fixture.log, served.fixture.client);
  const after = await timeOf();
  expect([await starts.has(runId), served.store.asked]).toEqual([true, []]);
  expect(after).not.toBe(before);
  expect(after).toBe((await readers(null).activity.lastActivityTimes()).get(runId));
});

it('kept runs: one that is deleted is gone before its rows are', async () => {
  const { runId } = await storedRun();
  const { log, client } = served.fixture;
  const late = readers(log);
  let numSeen = -1;
  await deleteRunRecords({
    ...{ log, client, runId, detail: 'by request', force: true },
    bringUpToDate: async () => {
      await catchUp(log, client);
      // The second time, RunDeleted is stored, and the rows are still there.
      const answers = await answersOf(late);
      numSeen = [answers.factsOf, answers.times, answers.newest].filter((of) => of.has(runId)).length;
      numSeen += answers.alarms.items.filter((alarm) => alarm.runId === runId).length;
    },
  });
  expect(numSeen).toBe(0);
  expect(await answersOf(late)).toEqual(await answersOf(readers(null)));
  const first = readers(log);
  expect((await answersOf(first)).factsOf.has(runId)).toBe(false);
});

it('kept runs: a new run has its figures while the cursor of the sink is behind its rows', async () => {
  const { log, client } = served.fixture;
  await catchUp(log, client);
  const cursor = await log.endOffset('control', 0);
  const { activity } = readers(overriding(log, { readCursor: () => Promise.resolve(cursor) }));
  await activity.lastActivityTimes();
  const { runId } = await storedRun();
  const activityOf = async (reader: RunActivityReader) => (await reader.read([runId]))(runId);
  const shown = await activityOf(activity);
  expect(shown).toMatchObject({ latest: { [METRIC]: 1 }, lastActivityAt: expect.any(String) });
  expect(shown).toEqual(await activityOf(readers(null).activity));
});

// The last ones: each leaves runs in the store, and every answer is of all runs.
const RANDOM_DEEDS = fc.asyncProperty(fc.array(deed, { minLength: 3, maxLength: 5 }), followDeeds);

it('kept runs: are those of the store, whatever is appended, stored twice or deleted between two questions', async () => {
  await fc.assert(RANDOM_DEEDS, { numRuns: 1, examples: [[[...EACH_KIND]]], endOnFailure: true });
});

it('kept runs: are those of the store after many random events', { tags: 'release' }, async () => {
  await fc.assert(RANDOM_DEEDS, { numRuns: 20, endOnFailure: true });
});
