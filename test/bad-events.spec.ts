import { newRunId, type AnyEvent, type RetraceEvent } from '@retrace/trajectory';
import { choosePartition } from '@retrace/log';
import { catchUp, retryDeadLetters, verifyStore } from '@retrace/store';
import { encodeEvent } from '@retrace/trajectory/codec';
import { ControlTail } from '@retrace/log';
import { appendEvents } from '@retrace/log/testing';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EpisodeOrder } from '../apps/collector/src/round/episode-order.js';
import { TrajectoryWriter } from '../apps/collector/src/writer/trajectory-writer.js';
import { frame, unframe } from '../libs/trajectory/src/codec/frame.js';
import { messagePack } from '../libs/trajectory/src/codec/body/messagepack.js';
import { packColumn } from '../libs/trajectory/src/codec/body/packed-column.js';

type Step = RetraceEvent<'StepRecorded'>;
type Fields = Readonly<Record<string, unknown>>;

const MAX_EVENT_BYTES = 20_000;
const NUM_TOKENS = 12;
const NUM_STEPS = 3;

/** A step that breaks a rule by itself: refused at the source, and a dead letter at its own place in the log. */
interface BadStep {
  readonly title: string;
  readonly fields: (step: Step['payload']) => Fields;
  /** Of the error and of the dead letter alike: field, value and rule. */
  readonly says: RegExp;
}

const withLast = (column: Float32Array, value: number): Float32Array => {
  const copy = column.slice();
  copy[copy.length - 1] = value;
  return copy;
};

const badSteps: readonly BadStep[] = [
  {
    title: 'malformed: a field is missing',
    fields: () => ({ action: undefined }),
    says: /StepRecorded\.payload\.action is undefined; must be/,
  },
  {
    title: 'malformed: a field of another type',
    fields: () => ({ terminated: 'yes' }),
    says: /StepRecorded\.payload\.terminated is "yes"; must be/,
  },
  {
    title: 'malformed: a field that no step has',
    fields: () => ({ colour: 1 }),
    says: /StepRecorded\.payload\.colour is 1; must be absent/,
  },
  {
    title: 'a reward that is infinite',
    fields: () => ({ reward: Infinity }),
    says: /StepRecorded\.payload\.reward is Infinity; must be/,
  },
  {
    title: 'a reward that is no number',
    fields: () => ({ reward: Number.NaN }),
    says: /StepRecorded\.payload\.reward is NaN; must be/,
  },
  {
    title: 'a named reward that is infinite',
    fields: () => ({ rewardValues: Float64Array.of(0, -Infinity) }),
    says: /StepRecorded\.payload\.rewardValues\[1\] is -Infinity; must be a finite number, or NaN for missing/,
  },
  {
    title: 'a logprob that is infinite',
    fields: ({ tokenLogprobs }) => ({ tokenLogprobs: withLast(tokenLogprobs, -Infinity) }),
    says: /tokenLogprobs\[11\] is -Infinity; must be a finite logprob ≤ 0, or NaN for missing/,
  },
  {
    title: 'a logprob above 0',
    fields: ({ tokenLogprobs }) => ({ tokenLogprobs: withLast(tokenLogprobs, 0.5) }),
    says: /tokenLogprobs\[11\] is 0\.5; must be a finite logprob ≤ 0, or NaN for missing/,
  },
  ...(['actionMask', 'tokenLogprobs', 'tokenEntropies', 'tokenPolicyVersions'] as const).map((name) => ({
    title: `token columns of unequal length: ${name}`,
    fields: (step: Step['payload']) => ({ [name]: step[name]?.slice(1) }),
    says: new RegExp(`payload\\.${name}\\.length is 11; must be as long as tokenIds, which has 12 tokens`),
  })),
];

describe('bad events', () => {
  let store: StoreFixture;
  let writer: TrajectoryWriter;
  const runId = newRunId();
  let numEpisodes = 0;

  beforeAll(async () => {
    store = await openStoreFixture({ numTrajectoryPartitions: 1, maxEventBytes: MAX_EVENT_BYTES });
    await appendEvents(store.log, [controlEvent({ logId: store.log.logId, runId }, 'RunStarted')]);
    writer = await TrajectoryWriter.open(store.log);
  });
  afterAll(async () => {
    await writer.close();
    await store.close();
  });

  /** Appends an event as a collector does. */
  const emit = (order: EpisodeOrder, event: AnyEvent) => {
    order.check(event);
    writer.write(event);
  };
  const newEpisode = (ofRun = runId) =>
    episodeEvents({
      logId: store.log.logId,
      runId: ofRun,
      ordinal: numEpisodes++,
      numSteps: NUM_STEPS,
      numTokens: NUM_TOKENS,
    });
  const stepOf = (events: readonly AnyEvent[], step: number) => events[step + 1] as Step;
  const withFields = (event: Step, fields: Fields) =>
    ({ ...event, payload: { ...event.payload, ...fields } }) as Step;

  /** The record of another writer, whose code has no rules. */
  function recordWith(event: Step, fields: Fields): Uint8Array {
    const framed = unframe(encodeEvent(event));
    const parts = messagePack.unpack((framed as { body: Buffer }).body) as unknown[];
    const packed = Object.entries(fields).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? packColumn(value as Float32Array) : value,
    ]);
    const payload = { ...(parts[8] as Fields), ...(Object.fromEntries(packed) as Fields) };
    const present = Object.entries(payload).filter(([, value]) => value !== undefined);
    return frame(messagePack.pack(parts.with(8, Object.fromEntries(present))));
  }

  /** Appends records as one batch, and carries them into the store. */
  async function bring(...records: readonly (AnyEvent | Uint8Array)[]): Promise<number> {
    const bytes = records.map((record) => (record instanceof Uint8Array ? record : encodeEvent(record)));
    const { firstOffset } = await store.log.append('trajectories', 0, bytes);
    await catchUp(store.log, store.client);
    return firstOffset;
  }

  const deadLetterAt = async (offset: number) => {
    const rows = await store.client.queryRows<{ code: string; reason: string }>(
      `SELECT code, reason FROM dead_letters WHERE log_stream = 'trajectories' AND log_offset = ${offset}`,
    );
    return rows.at(0) ?? null;
  };
  /** Places behind an offset, and codes. */
  const deadLettersFrom = async (offset: number) => {
    const rows = await store.client.queryRows<{ at: number; code: string }>(
      `SELECT log_offset - ${offset} AS at, code FROM dead_letters WHERE log_stream = 'trajectories' AND log_offset >= ${offset}`,
    );
    return rows.map(({ at, code }) => [Number(at), code]);
  };
  const rewardOf = ([started]: readonly AnyEvent[]) =>
    episodeEvent(started, 'RewardAssigned', 0, { value: 1 }) as AnyEvent;
  const episodeOf = async ([{ episodeId }]: readonly AnyEvent[]) => {
    const [row] = await store.client.queryRows<{ sealed: boolean; actions: string[] }>(
      `SELECT sealed, (SELECT groupArray(action) FROM steps WHERE episode_id = '${episodeId}') AS actions
       FROM episodes WHERE episode_id = '${episodeId}'`,
    );
    return row;
  };
  const whole = { sealed: true, actions: ['right', 'right', 'right'] };
  const faultsOf = async ([{ episodeId }]: readonly AnyEvent[]) => {
    const { faults } = await verifyStore({ log: store.log, client: store.client });
    return faults
      .filter(({ where, message }) => `${where} ${message}`.includes(episodeId))
      .map(({ message }) => message);
  };

  it.each(badSteps)(
    '$title is refused at the source by an error that names field, value and rule',
    ({ fields, says }) => {
      const good = stepOf(newEpisode(), 0);
      expect(() => {
        writer.write(withFields(good, fields(good.payload)));
      }).toThrow(
        expect.objectContaining({ code: 'INVALID_EVENT', message: expect.stringMatching(says) as string }),
      );
    },
  );

  it('that were refused at the source leave the writer and the episode as they were', async () => {
    const events = newEpisode();
    const order = new EpisodeOrder();
    for (const event of events) {
      if (event.kind === 'StepRecorded') {
        const bad = withFields(event, badSteps[event.payload.step].fields(event.payload));
        expect(() => {
          writer.write(bad);
        }).toThrow();
      }
      emit(order, event);
    }
    await writer.flush();
    await catchUp(store.log, store.client);
    expect(await episodeOf(events)).toMatchObject(whole);
  });

  it('that break a rule by themselves are dead letters when they come through the log, and nothing else of their batch suffers', async () => {
    const episodes = badSteps.map(() => newEpisode());
    const records = badSteps.flatMap(({ fields }, i) => {
      const events = episodes[i];
      const bad = stepOf(newEpisode(), 0);
      return [...events.slice(0, 2), recordWith(bad, fields(bad.payload)), ...events.slice(2)];
    });
    const offset = await bring(...records);
    for (const [i, { says, title }] of badSteps.entries()) {
      const perEpisode = records.length / badSteps.length;
      expect(await deadLetterAt(offset + i * perEpisode + 2), title).toEqual({
        code: 'INVALID_EVENT',
        reason: expect.stringMatching(says) as string,
      });
      expect(await episodeOf(episodes[i]), title).toMatchObject(whole);
    }
  });

  it('that are no events are dead letters, and nothing else of their batch suffers', async () => {
    const events = newEpisode();
    const records = [
      Buffer.from('{"kind": "StepRecorded"}'),
      encodeEvent(stepOf(newEpisode(), 0)).subarray(0, -1),
      frame(Buffer.from('no event')),
    ];
    const offset = await bring(events[0], ...records, ...events.slice(1));
    for (const [i, code] of ['NOT_AN_EVENT', 'CHECKSUM_MISMATCH', 'UNDECODABLE'].entries()) {
      expect(await deadLetterAt(offset + 1 + i)).toMatchObject({ code });
    }
    expect(await episodeOf(events)).toMatchObject(whole);
  });

  it('too large for the source are refused there by sizes and limit; the log refuses what is too large for it', async () => {
    const [event] = newEpisode().slice(1) as [Step];
    const large = withFields(event, { observation: 'x'.repeat(MAX_EVENT_BYTES) });
    expect(() => {
      writer.write(large);
    }).toThrow(
      expect.objectContaining({
        code: 'LOG_RECORD_TOO_LARGE',
        message: expect.stringMatching(
          /^StepRecorded of episode \S+, seq 1, has 20\d{3} bytes; must have at most 20000/,
        ) as string,
      }),
    );
    const record = new Uint8Array(store.log.maxRecordBytes + 1);
    await expect(store.log.append('trajectories', 0, [record])).rejects.toMatchObject({
      code: 'LOG_RECORD_TOO_LARGE',
    });
    const events = newEpisode();
    const tooLarge = withFields(stepOf(events, 0), { observation: 'x'.repeat(MAX_EVENT_BYTES) });
    const offset = await bring(events[0], tooLarge, ...events.slice(1));
    expect(await deadLetterAt(offset + 1)).toEqual({
      code: 'TOO_LARGE',
      reason: expect.stringMatching(
        /^StepRecorded of episode \S+, seq 1, has 20\d{3} bytes; must have at most 20000 \(RETRACE_MAX_EVENT_BYTES\)$/,
      ) as string,
    });
    expect(await episodeOf(events)).toMatchObject(whole);
    // Under a higher limit it counts, as the first of its place.
    const retried = await retryDeadLetters({
      client: store.client,
      runId,
      code: 'TOO_LARGE',
      maxEventBytes: 1e6,
    });
    expect(retried).toMatchObject({ numDeadLetters: 1, numDecoded: 1 });
  });

  it('out of order are refused at the source; through the log they fold to the same episode', async () => {
    const events = newEpisode();
    const order = new EpisodeOrder();
    order.check(events[0]);
    expect(() => {
      order.check(events[2]);
    }).toThrow(
      expect.objectContaining({
        code: 'INVALID_EVENT',
        message: expect.stringMatching(/^StepRecorded\.seq is 2 of episode \S+; must be 1$/) as string,
      }),
    );
    await bring(...events.toReversed());
    expect(await episodeOf(events)).toMatchObject(whole);
    expect(await faultsOf(events)).toEqual([]);
  });

  it('in conflict are refused at the source; through the log the first counts, and the other is a dead letter', async () => {
    const events = newEpisode();
    const other = withFields(stepOf(events, 1), { action: 'left' });
    const order = new EpisodeOrder();
    for (const event of events.slice(0, 3)) order.check(event);
    expect(() => {
      order.check(other);
    }).toThrow(/^StepRecorded\.seq is 2 of episode \S+; must be 3/);
    const offset = await bring(...events.slice(0, 3), other, ...events.slice(3), events[2], other);
    expect(await episodeOf(events)).toMatchObject(whole);
    const conflict = {
      code: 'CONFLICT',
      reason: `StepRecorded.seq is 2 of episode ${events[0].episodeId}; an earlier record with other content has that place`,
    };
    expect(await deadLetterAt(offset + 3)).toEqual(conflict);
    // The event itself again is no conflict, the other one is, wherever it comes.
    expect(await deadLetterAt(offset + 6)).toBeNull();
    expect(await deadLetterAt(offset + 7)).toEqual(conflict);
    expect(await faultsOf(events)).toEqual([]);
  });

  it('of two writers of one episode count as the first of each: what they agree on once, what not as a dead letter', async () => {
    const events = newEpisode();
    const others = events.map((event, seq) =>
      seq === 2 ? withFields(event as Step, { action: 'left' }) : event,
    );
    const offset = await bring(...events.flatMap((event, seq) => [event, others[seq]]));
    expect(await episodeOf(events)).toMatchObject(whole);
    expect(await faultsOf(events)).toEqual([]);
    expect(await deadLettersFrom(offset)).toEqual([[5, 'CONFLICT']]);
  });

  it('after the end are refused at the source; through the log they are dead letters, and rewards may still come', async () => {
    const events = newEpisode();
    const order = new EpisodeOrder();
    for (const event of events) order.check(event);
    const longer = episodeEvents({
      logId: store.log.logId,
      runId,
      ordinal: numEpisodes - 1,
      numSteps: NUM_STEPS + 2,
      numTokens: NUM_TOKENS,
    });
    const late = longer[NUM_STEPS + 2];
    expect(() => {
      order.check(late);
    }).toThrow(/must be RewardAssigned once the episode has ended/);
    const offset = await bring(...events, late, ...longer.slice(-1), rewardOf(events));
    expect(await episodeOf(events)).toMatchObject(whole);
    expect(await faultsOf(events)).toEqual([]);
    expect(await deadLettersFrom(offset)).toEqual([
      [NUM_STEPS + 2, 'AFTER_END'],
      [NUM_STEPS + 3, 'CONFLICT'],
    ]);
    const { episodeId } = events[0];
    expect(await deadLetterAt(offset + NUM_STEPS + 2)).toMatchObject({
      reason: `StepRecorded.payload.step is 4; must be below 3, the number of steps that episode ${episodeId} ended with`,
    });
    expect(await deadLetterAt(offset + NUM_STEPS + 3)).toMatchObject({
      reason: `EpisodeEnded.payload.numSteps is 5; must be 3, the number of steps that episode ${episodeId} already ended with`,
    });
    const assigned = await store.client.queryRows(
      `SELECT step FROM reward_assignments WHERE episode_id = '${episodeId}'`,
    );
    expect(assigned).toHaveLength(1);
  });

  it('that no longer know their episode, because it ended long ago, are judged by what the store has of it', async () => {
    const events = newEpisode();
    await bring(...events);
    const conflict = withFields(stepOf(events, 0), { action: 'left' });
    const late = episodeEvents({
      logId: store.log.logId,
      runId,
      ordinal: numEpisodes - 1,
      numSteps: NUM_STEPS + 2,
      numTokens: NUM_TOKENS,
    })[NUM_STEPS + 2];
    // Each `bring` is a sink of its own, which remembers nothing.
    const offset = await bring(...newEpisode(), conflict, events[1], late);
    expect(await deadLettersFrom(offset)).toEqual([
      [NUM_STEPS + 2, 'CONFLICT'],
      [NUM_STEPS + 4, 'AFTER_END'],
    ]);
    expect(await episodeOf(events)).toMatchObject(whole);
  });

  it('of control that name a run which has not started are dead letters', async () => {
    const unknown = newRunId();
    const event = controlEvent({ logId: store.log.logId, runId: unknown }, 'MetricsLogged');
    const started = controlEvent({ logId: store.log.logId, runId: unknown }, 'RunStarted');
    const { firstOffset } = await store.log.append('control', 0, [event, started, event].map(encodeEvent));
    await catchUp(store.log, store.client);
    const rows = await store.client.queryRows<{ at: number; code: string; reason: string }>(
      `SELECT log_offset - ${firstOffset} AS at, code, reason FROM dead_letters
       WHERE log_stream = 'control' AND log_offset >= ${firstOffset}`,
    );
    expect(rows.map((row) => ({ ...row, at: Number(row.at) }))).toEqual([
      {
        at: 0,
        code: 'UNKNOWN_RUN',
        reason: `MetricsLogged.runId is ${unknown}; must be a run that has started: stream control has no RunStarted of it before`,
      },
    ]);
  });

  it('of an unknown run are refused at the source; through the log no group takes them, so nothing trains on them', async () => {
    const unknown = newRunId();
    const control = new ControlTail(store.log);
    await control.catchUp();
    expect(() => control.run(unknown)).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_RUN', message: `run ${unknown} is not in this log` }),
    );
    const events = newEpisode(unknown);
    expect(choosePartition(unknown, events[0].episodeId, 1)).toBe(0);
    await bring(...events);
    await control.catchUp();
    expect(() => control.run(unknown)).toThrow('is not in this log');
    expect(await store.client.queryRows(`SELECT * FROM runs WHERE run_id = '${unknown}'`)).toEqual([]);
    expect(await store.client.queryRows(`SELECT * FROM groups WHERE run_id = '${unknown}'`)).toEqual([]);
    control.close();
  });
});
