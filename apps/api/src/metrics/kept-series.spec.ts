import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ControlChanges } from '../store/control-changes.js';
import { StoreService } from '../store/store.service.js';
import { happen } from '../testing/happen.js';
import { ServedStore } from '../testing/served-store.js';
import { KeptSeries } from './kept-series.js';
import { MetricsService } from './metrics.service.js';

/** Longer than any answer takes. */
const PATIENCE_MS = 100_000;
const KEPT_WITHIN_MS = 30_000;
const NOW_US = Date.now() * 1000;
const NAMES = ['rollout/success', 'train/loss', 'train/é'];

let served: ServedStore<WatchedStore>;
let numEvents = 0;

beforeAll(async () => {
  served = await ServedStore.open(WatchedStore);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await served?.close();
});

/** Counts the rows that it returns. */
class WatchedStore extends StoreService {
  numRows = 0;
  override async queryRows<Row>(sql: string, params: Readonly<Record<string, unknown>>): Promise<Row[]> {
    const rows = await super.queryRows<Row>(sql, params);
    this.numRows += rows.length;
    return rows;
  }
}

const deed = fc.record({
  kind: fc.constantFrom(
    ...(['log', 'log', 'log', 'log', 'again', 'claim', 'end', 'delete', 'start'] as const),
  ),
  /** An update that a resumed trainer redoes has a step of before, with a later or an earlier time. */
  step: fc.integer({ min: 0, max: 6 }),
  timeS: fc.integer({ min: 0, max: 40 }),
  source: fc.constantFrom('trainer' as const, 'collector' as const),
  values: fc.array(fc.constantFrom(-1.5, 0, 0.1, 7, NaN, Infinity), {
    minLength: 1,
    maxLength: NAMES.length,
  }),
  /** Whether the store has it before the next question. */
  isStored: fc.boolean(),
});

type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

function eventOf({ kind, step, timeS, source, values }: Deed, runId: string): AnyEvent | null {
  const ids = { logId: served.fixture.log.logId, runId };
  // Of two events with one time either may count.
  const occurredAtUs = NOW_US + timeS * 1_000_000 + numEvents++;
  if (kind === 'log')
    return controlEvent({ ...ids, occurredAtUs }, 'MetricsLogged', {
      ...{ source, step, names: NAMES.slice(0, values.length), values: Float64Array.from(values) },
    }) as AnyEvent;
  if (kind === 'claim') return controlEvent(ids, 'TrainerClaimed', { epoch: step + 1 }) as AnyEvent;
  if (kind === 'end') return controlEvent(ids, 'RunEnded') as AnyEvent;
  return kind === 'start' ? (controlEvent(ids, 'RunStarted') as AnyEvent) : null;
}

const doDeed = (one: Deed, runId: string): Promise<void> =>
  happen(served.fixture, runId, { ...one, event: eventOf(one, runId) });

/** Of a process that follows the log. */
const keptSeries = (): KeptSeries =>
  new KeptSeries(served.store, new ControlChanges(served.fixture.log, served.store, PATIENCE_MS));

/** Of the store alone, cut into so many points. */
async function seriesOfStore(runId: string, maxPoints: number) {
  const none = new KeptSeries(served.store, new ControlChanges(null, served.store));
  return (await new MetricsService(served.store, none).series(runId, { names: [], maxPoints })).series;
}

/** Means are sums in any order. */
const rounded = (series: Awaited<ReturnType<typeof seriesOfStore>>) =>
  series.map((one) => ({ ...one, values: one.values.map((value) => Number(value.toPrecision(12))) }));

/** Once they are kept. */
async function readKept(kept: KeptSeries, runId: string) {
  const read = async () => {
    const series = await kept.of(runId);
    if (series !== null) return series;
    kept.keepBeside(runId);
    throw new Error('the series are not kept yet');
  };
  return vi.waitFor(read, { timeout: KEPT_WITHIN_MS });
}

const log = (step: number, timeS: number, values: number[] = [step], isStored = true): Deed => ({
  ...{ kind: 'log', step, timeS, source: 'trainer', values, isStored },
});
const other = (kind: Deed['kind'], isStored = true): Deed => ({ ...log(0, 0, [0], isStored), kind });

/** Late, redone and doubled points, a second trainer, the end, and an import after a deletion. */
const EACH_KIND = [
  ...[other('start'), log(1, 1), log(2, 2, [2, 3, 4]), log(3, 3, [NaN, 1]), log(4, 4, [4], false)],
  ...[other('again', false), log(1, 9, [7]), log(2, 0, [0.1]), other('claim', false), log(0, 5)],
  ...[other('end'), log(5, 6), other('delete'), other('start', false), log(6, 7)],
];

const RARE_KINDS: ReadonlySet<string> = new Set(['start', 'claim', 'end', 'delete']);

async function followDeeds(deeds: readonly Deed[]): Promise<void> {
  let isWaiting = false;
  const runId = newRunId();
  const kept = keptSeries();
  for (const [i, one] of [...deeds, other('again')].entries()) {
    await doDeed(one, runId);
    const maxPoints = 2 + (i % 3);
    const ofStore = await seriesOfStore(runId, maxPoints);
    isWaiting = !one.isStored && (isWaiting || RARE_KINDS.has(one.kind));
    // Of a run without metrics nothing is kept, nor while the store lacks a record after which all are read.
    const isKept = ofStore.length > 0 && !isWaiting;
    const series = isKept ? await readKept(kept, runId) : await kept.of(runId);
    if (series !== null) expect(rounded(series.select({ names: [], maxPoints }))).toEqual(rounded(ofStore));
  }
}

it('kept series: are those of the store, whatever is logged again, late or after a deletion', async () => {
  await followDeeds(EACH_KIND);
});

it('kept series: are those of the store after many random events', { tags: 'release' }, async () => {
  const randomDeeds = fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 8 }), followDeeds);
  await fc.assert(randomDeeds, { numRuns: 20, endOnFailure: true });
});

it('kept series: of a run that goes on, only new events are read, and of one that does not, nothing', async () => {
  const runId = newRunId();
  const kept = keptSeries();
  for (const one of [other('start'), log(1, 1), log(2, 2), log(3, 3)]) await doDeed(one, runId);
  await readKept(kept, runId);
  const numRead = async () => {
    const before = served.store.numRows;
    await kept.of(runId);
    return served.store.numRows - before;
  };
  expect(await numRead()).toBe(0);
  await doDeed(log(4, 4), runId);
  expect(await numRead()).toBe(1);
  expect((await kept.of(runId))?.select({ names: ['rollout/success'], maxPoints: 10 })).toMatchObject([
    { steps: [1, 2, 3, 4], values: [1, 2, 3, 4] },
  ]);
  expect((await kept.of(runId))?.select({ names: [], source: 'collector', maxPoints: 10 })).toEqual([]);
  // All would have to be read, so the store is to answer.
  await doDeed(other('end'), runId);
  expect([await numRead(), await kept.of(runId)]).toEqual([0, null]);
});

it('kept series: a row that the store has late, at an offset of before, is shown within a minute while the run goes on', async () => {
  const runId = newRunId();
  const kept = keptSeries();
  const stepsOf = async () =>
    (await readKept(kept, runId)).select({ names: [NAMES[0]], maxPoints: 10 }).flatMap(({ steps }) => steps);
  await doDeed(other('start'), runId);
  // The offset before that of the first update is of another run.
  for (const [one, id] of [
    [other('start'), newRunId()],
    [log(1, 1), runId],
    [log(2, 2), runId],
  ] as const)
    await doDeed(one, id);
  expect(await stepsOf()).toEqual([1, 2]);
  const { log: events, client } = served.fixture;
  const params = { runId, logId: events.logId, eventId: newRunId() };
  await client.command(
    `INSERT INTO events SELECT * REPLACE ({eventId:String} AS event_id, log_offset - 1 AS log_offset, 7 AS metric_step)
     FROM (SELECT * FROM events WHERE run_id = {runId:String} AND metric_step = 1 AND kind = 'MetricsLogged')`,
    { params },
  );
  const startMs = performance.now();
  let passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => startMs + passedMs);
  for (const [step, shown] of [
    [3, [1, 2, 3]],
    [4, [1, 2, 3, 4, 7]],
  ] as const) {
    passedMs += 40_000;
    await doDeed(log(step, step), runId);
    expect(await stepsOf()).toEqual(shown);
  }
});

it('series of a run that was deleted: the store has none, though its rows are removed later', async () => {
  const runId = newRunId();
  for (const one of [other('start'), log(1, 1)]) await doDeed(one, runId);
  expect(await seriesOfStore(runId, 10)).toHaveLength(1);
  const deleted = controlEvent({ logId: served.fixture.log.logId, runId }, 'RunDeleted') as AnyEvent;
  await appendEvents(served.fixture.log, [deleted]);
  await catchUp(served.fixture.log, served.fixture.client);
  expect(await seriesOfStore(runId, 10)).toEqual([]);
});
