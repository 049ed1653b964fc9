import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { Sink, untilVisible } from '@retrace/store';
import { Recorder } from '../recorder.js';
import { redact } from '../redaction/redact.js';
import type { RedactionRules } from '../redaction/redaction-rules.js';

/** Hides all that it may of these fields. */
const RULES: RedactionRules = {
  keepsTokens: true,
  rules: [
    {
      ...{ name: 'all', pattern: null, replacement: '[hidden]' },
      fields: [['batch', 'where'], ['location'], ['engine']],
    },
  ],
};

let store: StoreFixture;
let recorder: Recorder;
const stop = new AbortController();
let sinking: Promise<void>;

beforeAll(async () => {
  store = await openStoreFixture({ numTrajectoryPartitions: 2 });
  const options = { minInsertIntervalMs: 50, minControlInsertIntervalMs: 50, lingerMs: 5 };
  sinking = new Sink(options).run({ log: store.log, client: store.client, signal: stop.signal });
  recorder = await Recorder.open(store.log, store.client, {
    redact: (value) => redact(value, RULES, () => undefined),
  });
});

afterAll(async () => {
  await recorder?.close();
  stop.abort();
  await sinking;
  await store?.close();
});

/** Starts a run with one episode, whose version 0 is published. */
async function startRun(): Promise<string> {
  const { runId } = await recorder.startRun({ name: 'trained outside' });
  await recorder.append(runId, [
    { type: 'episode', episode: 'one' },
    { type: 'step', episode: 'one', step: 0, action: 'a', reward: 1 },
    { type: 'end', episode: 'one' },
  ]);
  await recorder.updates.publishPolicy(runId, { policyVersion: 0 });
  return runId;
}

const UPDATE = { policyVersionIn: 0, engine: { kind: 'own' }, episodes: [{ episode: 'one' }] };

it('hides what rules of redaction name, but not what made the gradients', async () => {
  const runId = await startRun();
  const free = { batch: { where: 'a name', groups: 1 }, location: '/home/name', model: 'tiny' };
  await recorder.updates.record(runId, { ...UPDATE, ...free });
  await untilVisible(store.log, store.client);
  const params = { runId };
  const [plan] = await store.client.queryRows<{ batch: string }>(
    `SELECT JSONExtractRaw(payload, 'samplerState') AS batch FROM events WHERE run_id = {runId:String} AND kind = 'BatchPlanned'`,
    { params },
  );
  expect(JSON.parse(plan.batch)).toEqual({ where: '[hidden]', groups: 1 });
  const policies = await store.client.queryRows(
    'SELECT location, model_hash FROM policies WHERE run_id = {runId:String} AND policy_version = 1',
    { params },
  );
  expect(policies).toEqual([{ location: '[hidden]', model_hash: 'tiny' }]);
  const updates = await store.client.queryRows('SELECT engine FROM updates WHERE run_id = {runId:String}', {
    params,
  });
  expect(updates).toEqual([{ engine: 'own' }]);
});

it('names the field of the request where an event can not hold what it says', async () => {
  const runId = await startRun();
  const faultOf = (change: object) =>
    recorder.updates.record(runId, { ...UPDATE, ...change }).then(
      () => null,
      (error: unknown) =>
        (error as { readonly faults: readonly { readonly field: string }[] }).faults[0].field,
    );
  expect(await faultOf({ metrics: { '': 1 } })).toBe('metrics');
  expect(await faultOf({ metrics: { '\ud800': 1 } })).toBe('metrics[0]');
  expect(await faultOf({ model: '\ud800' })).toBe('model');
  expect(await faultOf({ batch: { note: '\ud800' } })).toMatch(/^batch/);
  expect(await faultOf({ episodes: [{ episode: 'one', numTokens: 2 ** 31 }] })).toBe('episodes[0].numTokens');
});
