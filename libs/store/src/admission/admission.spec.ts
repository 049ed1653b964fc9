import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, newRunId, type StepRecorded } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient } from '../client/store-client.js';
import { rebuildStore } from '../rebuild/rebuild-store.js';
import { verifyStore } from '../verify/verify-store.js';

const NUM_EPISODES = 5;
const NUM_STEPS = 3;
const NUM_LONGER = 6;

/** An event and who wrote it: two writers write different content at one place. */
interface Arrival {
  readonly event: AnyEvent;
  readonly writer: 'first' | 'second' | 'any';
}

/** The dead letters that the rules demand of records in this order, by offset: an independent, slow implementation. */
function expectedDeadLetters(arrivals: readonly Arrival[]): [number, string][] {
  const episodes = new Map<string, { places: Map<string, string>; ended: number | null }>();
  const refused: [number, string][] = [];
  arrivals.forEach(({ event: { kind, episodeId, seq }, writer }, offset) => {
    const episode = episodes.get(episodeId) ?? { places: new Map<string, string>(), ended: null };
    episodes.set(episodeId, episode);
    const place = kind === 'RewardAssigned' ? `reward ${seq}` : `${seq}`;
    const content = `${kind} ${writer}`;
    const holder = episode.places.get(place);
    if (holder === content) return;
    const isLate = kind === 'StepRecorded' && episode.ended !== null && seq - 1 >= episode.ended;
    const steps = [...episode.places.keys()].filter((key) => episode.places.get(key)?.startsWith('Step'));
    const isTooEarly = kind === 'EpisodeEnded' && steps.some((step) => Number(step) > seq);
    const isSecondEnd = kind === 'EpisodeEnded' && episode.ended !== null;
    if (isLate) refused.push([offset, 'AFTER_END']);
    else if (holder !== undefined || isTooEarly || isSecondEnd) refused.push([offset, 'CONFLICT']);
    else {
      episode.places.set(place, content);
      if (kind === 'EpisodeEnded') episode.ended = seq - 1;
    }
  });
  return refused;
}

describe('admission', () => {
  let store: StoreFixture;
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreFixture({ numTrajectoryPartitions: 1 });
    const started = controlEvent({ logId: store.log.logId, runId }, 'RunStarted');
    await store.log.append('control', 0, [encodeEvent(started)]);
  });
  afterAll(() => store.close());

  /** The records of both writers for some episodes of different lengths, with rewards, in any order and some of them twice. */
  function drawArrivals(seed: number): Arrival[] {
    const { logId } = store.log;
    const all = Array.from({ length: NUM_EPISODES }, (_, ordinal) => {
      const short = episodeEvents({ logId, runId, ordinal, numSteps: NUM_STEPS });
      const long = episodeEvents({ logId, runId, ordinal, numSteps: NUM_LONGER }).map((event) =>
        event.kind === 'StepRecorded' ? withAction(event, 'left') : event,
      );
      const reward = episodeEvent(short[0], 'RewardAssigned', 0, { value: 1 }) as AnyEvent;
      return [
        { event: short[0], writer: 'any' as const },
        ...short.slice(1).map((event) => ({ event, writer: 'first' as const })),
        ...(ordinal % 2 === 0 ? [] : long.slice(2).map((event) => ({ event, writer: 'second' as const }))),
        { event: reward, writer: 'any' as const },
      ];
    }).flat();
    const [drawn] = fc.sample(
      fc
        .subarray(all, { minLength: 20 })
        .chain((again) => fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length })),
      { seed, numRuns: 1 },
    );
    return drawn;
  }

  const deadLetters = async () => {
    const rows = await store.client.queryRows<{ offset: number; code: string }>(
      "SELECT log_offset AS offset, code FROM dead_letters WHERE log_stream = 'trajectories' ORDER BY log_offset",
    );
    return rows.map(({ offset, code }) => [Number(offset), code]);
  };

  it('refuses the records that the rules name, whatever the batches and restarts of the sink, and after a rebuild', async () => {
    const arrivals = drawArrivals(7);
    const expected = expectedDeadLetters(arrivals);
    expect(new Set(expected.map(([, code]) => code))).toEqual(new Set(['CONFLICT', 'AFTER_END']));
    for (const [from, end] of [
      [0, 1],
      [1, 20],
      [20, 21],
      [21, 50],
      [50, arrivals.length],
    ]) {
      const records = arrivals.slice(from, end).map(({ event }) => encodeEvent(event));
      await store.log.append('trajectories', 0, records);
      // A new sink each time, which knows only what the store holds.
      await catchUp(store.log, store.client);
    }
    expect(await deadLetters()).toEqual(expected);
    expect(await verifyStore({ log: store.log, client: store.client })).toMatchObject({
      numConflicts: expected.filter(([, code]) => code === 'CONFLICT').length,
    });
    const { before, after } = await rebuildStore({
      log: store.log,
      client: store.client,
      openClient: (database) =>
        createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database }),
    });
    expect(after).toEqual(before);
    expect(await deadLetters()).toEqual(expected);
  });
});

function withAction(event: AnyEvent & { readonly kind: 'StepRecorded' }, action: string): AnyEvent {
  return { ...event, payload: { ...(event.payload as StepRecorded), action } } as AnyEvent;
}
