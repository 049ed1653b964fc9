import { appendEvents } from '@retrace/log/testing';
import { catchUp, deleteRunRecords } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ControlChanges } from '../store/control-changes.js';
import { StoreService } from '../store/store.service.js';
import { configOver } from '../testing/store-config.js';
import { WarningsService } from '../warnings/warnings.service.js';
import { RunActivityReader } from './run-activity.js';
import { RunFactsReader } from './run-facts.js';

const METRIC = 'rollout/success';
const NUM_RUNS = 3;

let fixture: StoreFixture;
let store: StoreService;

beforeAll(async () => {
  fixture = await openStoreFixture();
  store = new StoreService(configOver(fixture));
  store.takeAsReady();
});
afterAll(async () => {
  await store?.onApplicationShutdown();
  await fixture?.close();
});

/** The readers of a process that follows the log, or of one that keeps nothing and so asks the views each time. */
function readers(changes: ControlChanges) {
  const facts = new RunFactsReader(store, changes);
  const activity = new RunActivityReader(store, changes);
  return { facts, activity, warnings: new WarningsService(store, facts, changes) };
}

async function answersOf({ facts, activity, warnings }: ReturnType<typeof readers>) {
  const factsOf = new Map(await facts.all());
  const runIds = [...factsOf.keys()].sort();
  const activityOf = await activity.read(runIds);
  return {
    factsOf,
    details: await Promise.all(runIds.map((runId) => facts.detailsOf(runId))),
    activities: runIds.map(activityOf),
    times: new Map(await activity.lastActivityTimes()),
    newest: new Map(await activity.newestValues(METRIC)),
    alarms: await warnings.listAlarms({ limit: 500 }),
  };
}

/** Something that happens to one of the runs. */
const deed = fc.record({
  run: fc.nat(NUM_RUNS - 1),
  kind: fc.constantFrom(
    ...(['start', 'start', 'metrics', 'metrics', 'annotate', 'end', 'alarm', 'delete', 'again'] as const),
  ),
  value: fc.integer({ min: -3, max: 3 }),
  /** Whether the store has it before the next question. */
  isStored: fc.boolean(),
});

type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

function eventOf({ kind, value }: Deed, runId: string): AnyEvent | null {
  const ids = { logId: fixture.log.logId, runId };
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
  if (kind === 'end')
    return controlEvent(ids, 'RunEnded', { reason: value > 0 ? 'failed' : 'stopped' }) as AnyEvent;
  return kind === 'alarm' ? (controlEvent(ids, 'WarningRaised', alarm) as AnyEvent) : null;
}

/** @param runId of a run, which may not have started */
async function happen(one: Deed, runId: string): Promise<void> {
  const { log, client } = fixture;
  const event = eventOf(one, runId);
  if (event !== null) await appendEvents(log, [event]);
  if (one.kind === 'delete')
    await deleteRunRecords({ log, client, runId, detail: 'by request', force: true });
  // As an insert that is repeated does.
  const rows = "SELECT * FROM events WHERE run_id = {runId:String} AND episode_id = ''";
  if (one.kind === 'again') await client.command(`INSERT INTO events ${rows}`, { params: { runId } });
  if (one.isStored) await catchUp(log, client);
}

it('kept runs: are those of the views, whatever is appended, stored twice or deleted between two questions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 8 }), async (deeds) => {
      const runIds = Array.from({ length: NUM_RUNS }, () => newRunId());
      const kept = readers(new ControlChanges(fixture.log));
      await appendEvents(fixture.log, [
        controlEvent({ logId: fixture.log.logId, runId: runIds[0] }, 'RunStarted'),
      ]);
      await catchUp(fixture.log, fixture.client);
      await answersOf(kept);
      for (const one of deeds) {
        await happen(one, runIds[one.run]);
        expect(await answersOf(kept)).toEqual(await answersOf(readers(new ControlChanges())));
      }
      await catchUp(fixture.log, fixture.client);
      expect(await answersOf(kept)).toEqual(await answersOf(readers(new ControlChanges())));
    }),
    { numRuns: 4, endOnFailure: true },
  );
});
