import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents, sampleStep } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { configOver } from '../testing/store-config.js';
import { TokenTexts } from '../tokens/token-texts.js';
import { EpisodeService } from './episode.service.js';
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

beforeAll(async () => {
  fixture = await openStoreFixture();
  const config = configOver(fixture);
  store = new WatchedStore(config);
  store.takeAsReady();
  const starts = new RunStarts(store, new ControlChanges(null, store));
  episodes = new EpisodeService(store, starts, new TokenTexts(config), new ForkService(store));
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
