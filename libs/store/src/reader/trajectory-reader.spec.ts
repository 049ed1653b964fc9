import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEvents, overriding } from '@retrace/log/testing';
import {
  type AnyEvent,
  buildTokenBatch,
  type EpisodeEnded,
  episodeIdFor,
  newRunId,
  type StepRecorded,
} from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { eventRow, EventRowsEncoder } from '../rows/event-rows.js';
import { openStoreWithSink, type StoreWithSink } from '../sink/store-with-sink.contract.js';
import { TrajectoryReader } from './trajectory-reader.js';

describe('TrajectoryReader', () => {
  let store: StoreWithSink;
  let reader: TrajectoryReader;
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreWithSink();
    await appendEvents(store.log, [controlEvent({ logId: store.log.logId, runId }, 'RunStarted')]);
    reader = new TrajectoryReader(store.client);
  });

  afterAll(async () => {
    await store.close();
  });

  function stepsOf(events: readonly AnyEvent[]): StepRecorded[] {
    return events.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload] : []));
  }

  it('returns whole episodes in the order asked for, as flat columns', async () => {
    const ragged = [0, 1, 2].map((ordinal) =>
      episodeEvents({
        logId: store.log.logId,
        runId,
        ordinal,
        numSteps: ordinal + 1,
        numTokens: 4 + ordinal,
        step: (step) => ({
          reward: step === 1 ? null : step + 0.5,
          anchor: step === 0 ? null : `state ${step}`,
          actionValid: step !== 1,
          sampling:
            step === 2
              ? null
              : {
                  temperature: 0.25,
                  topK: ordinal,
                  topP: 1 - ordinal / 4,
                  greedy: step === 1,
                  maxNewTokens: 4,
                },
        }),
      }),
    );
    for (const events of ragged) await store.bring(events);
    const asked = [2, 0, 1, 2];
    const columns = await reader.readEpisodes(
      runId,
      asked.map((ordinal) => episodeIdFor({ runId, ordinal })),
    );

    const steps = asked.flatMap((ordinal) => stepsOf(ragged[ordinal]));
    const flat = (pick: (step: StepRecorded) => ArrayLike<number>): number[] =>
      steps.flatMap((step) => Array.from(pick(step)));
    expect(columns.episodeIds).toEqual(asked.map((ordinal) => episodeIdFor({ runId, ordinal })));
    expect(columns.groupIds).toEqual(['group-1', 'group-0', 'group-0', 'group-1']);
    expect([...columns.endReasons]).toEqual([1, 1, 1, 1]);
    expect([...columns.successes]).toEqual([1, 1, 0, 1]);
    expect([...columns.stepOffsets]).toEqual([0, 3, 4, 6, 9]);
    expect([...columns.steps]).toEqual([0, 1, 2, 0, 0, 1, 0, 1, 2]);
    expect([...columns.rewards]).toEqual([0.5, NaN, 2.5, 0.5, 0.5, NaN, 0.5, NaN, 2.5]);
    expect(columns.anchors).toEqual([
      null,
      'state 1',
      'state 2',
      null,
      null,
      'state 1',
      null,
      'state 1',
      'state 2',
    ]);
    expect([...columns.actionValid]).toEqual([1, 0, 1, 1, 1, 0, 1, 0, 1]);
    expect([...columns.keptPrefixTokens]).toEqual([0, 6, 12, 0, 0, 5, 0, 6, 12]);
    expect([...columns.temperatures]).toEqual([0.25, 0.25, NaN, 0.25, 0.25, 0.25, 0.25, 0.25, NaN]);
    // Also where it is top-k or top-p that narrows the choice, as in all but the episode of ordinal 0.
    expect([...columns.greedy]).toEqual([1, 1, 0, 0, 1, 1, 1, 1, 0]);
    expect([...columns.tokenOffsets]).toEqual([0, 6, 12, 18, 22, 27, 32, 38, 44, 50]);
    expect([...columns.tokenIds]).toEqual(flat(({ tokenIds }) => tokenIds));
    expect([...columns.actionMask]).toEqual(flat(({ actionMask }) => actionMask));
    expect([...columns.tokenLogprobs]).toEqual(flat(({ tokenLogprobs }) => tokenLogprobs));
    expect([...columns.tokenPolicyVersions]).toEqual(flat(({ tokenPolicyVersions }) => tokenPolicyVersions));
    expect([...columns.finalTokenOffsets]).toEqual([0, 2, 4, 6, 8]);
    expect([...columns.finalTokenIds]).toEqual([2, 3, 0, 1, 1, 2, 2, 3]);
    expect([...columns.finalKeptPrefixTokens]).toEqual([18, 4, 10, 18]);
    // The batch builder checks that everything fits together.
    expect(buildTokenBatch(columns).tokenIds.length).toBeGreaterThanOrEqual(columns.tokenIds.length);
  });

  it('returns masks and policy versions as recorded, whether they are equal throughout a step or not', async () => {
    const columnsOf = (masks: number[], versions: number[]) => ({
      tokenIds: Int32Array.from(masks, (_, t) => t),
      actionMask: Uint8Array.from(masks),
      tokenLogprobs: Float32Array.from(masks, (mask) => (mask === 1 ? -0.5 : 0)),
      tokenRawLogprobs: null,
      tokenEntropies: null,
      tokenPolicyVersions: Int32Array.from(versions),
    });
    const steps = [
      columnsOf([0, 0, 1, 1], [3, 3, 3, 4]),
      columnsOf([], []),
      columnsOf([0, 0, 0], [-1, -1, -1]),
      columnsOf([1, 1], [7, 7]),
      columnsOf([1], [9]),
    ];
    const events = episodeEvents({
      logId: store.log.logId,
      runId,
      ordinal: 50,
      numSteps: steps.length,
      numTokens: 2,
      step: (step) => steps[step],
    });
    await store.bring(events);
    const columns = await reader.readEpisodes(runId, [events[0].episodeId]);
    expect([...columns.tokenOffsets]).toEqual([0, 4, 4, 7, 9, 10]);
    expect([...columns.actionMask]).toEqual([0, 0, 1, 1, 0, 0, 0, 1, 1, 1]);
    expect([...columns.tokenPolicyVersions]).toEqual([3, 3, 3, 4, -1, -1, -1, 7, 7, 9]);
  });

  it('returns the same columns in slices as in one read', async () => {
    const ordinals = Array.from({ length: 9 }, (_, i) => 100 + i);
    for (const ordinal of ordinals) {
      await store.bring(
        episodeEvents({ logId: store.log.logId, runId, ordinal, numSteps: 1 + (ordinal % 3) }),
      );
    }
    const ids = ordinals.map((ordinal) => episodeIdFor({ runId, ordinal }));
    const whole = await reader.readEpisodes(runId, ids);
    const sliced = new TrajectoryReader(store.client, { maxEpisodesPerQuery: 2 });
    expect(await sliced.readEpisodes(runId, ids)).toEqual(whole);
  });

  it('returns nothing for no episodes, and refuses an invalid id', async () => {
    const columns = await reader.readEpisodes(runId, []);
    expect([columns.episodeIds.length, ...columns.stepOffsets, ...columns.tokenOffsets]).toEqual([0, 0, 0]);
    await expect(reader.readEpisodes(runId, ["' OR 1 = 1 --"])).rejects.toMatchObject({ code: 'INVALID_ID' });
  });

  it.each([
    ['nothing of it', 0, 'it has no events'],
    ['its start alone', 1, 'its end is missing'],
    ['all but its end', 4, 'its end is missing'],
  ])('says that an episode is not whole yet while the store has %s', async (_, numEvents, reason) => {
    const ordinal = 200 + numEvents;
    const events = episodeEvents({ logId: store.log.logId, runId, ordinal });
    if (numEvents > 0) await store.bring(events.slice(0, numEvents));
    const reading = reader.readEpisodes(runId, [events[0].episodeId]);
    await expect(reading).rejects.toMatchObject({ code: 'NOT_YET_VISIBLE', retriable: true });
    await expect(reading).rejects.toThrow(
      `Episode ${events[0].episodeId} is incomplete in the store: ${reason}`,
    );
    await store.bring(events.slice(numEvents));
    expect((await reader.readEpisodes(runId, [events[0].episodeId])).steps).toHaveLength(3);
  });

  it('names the missing step of an episode', async () => {
    const events = episodeEvents({ logId: store.log.logId, runId, ordinal: 300 });
    await store.bring(events.filter(({ seq }) => seq !== 2));
    await expect(reader.readEpisodes(runId, [events[0].episodeId])).rejects.toThrow('step 1 of 3 is missing');
  });

  it('finds episodes that lost an event, apart from those not written yet, and names the dead letter', async () => {
    const { log } = store;
    const spec = { logId: log.logId, runId, ordinal: 70 };
    const events = episodeEvents(spec);
    const { partition } = await appendEvents(log, events.slice(0, 2));
    const { episodeId } = events[0];
    const damaged = encodeEvent(events[2]).slice();
    damaged[damaged.length - 1] ^= 1;
    const { firstOffset } = await log.append('trajectories', partition, [damaged]);
    const tooLong = { ...events[1], payload: { ...(events[1].payload as StepRecorded), action: 'left' } };
    await store.bring([tooLong as AnyEvent, ...events.slice(3)]);
    const whole = episodeEvents({ ...spec, ordinal: 71 });
    await store.bring(whole);
    await expect(reader.readEpisodes(runId, [episodeId])).rejects.toMatchObject({ code: 'NOT_YET_VISIBLE' });
    const conflict = `trajectories/${partition} offset ${firstOffset + 1}: CONFLICT, StepRecorded.seq is 1`;
    expect(await reader.findLost(log, runId, [whole[0].episodeId, episodeId])).toEqual([
      {
        episodeId,
        missing: expect.stringContaining(`step 1 of 3 is missing (dead letters ${conflict}`) as string,
      },
    ]);
    const behind = overriding(log, {
      endOffset: async (...at) => (await log.endOffset(...at)) + 1,
      read: () => Promise.resolve([{ offset: firstOffset, bytes: damaged }]),
    });
    expect(await reader.findLost(behind, runId, [episodeId])).toEqual([]);
  });

  it('reads the first record of a place in log order, whatever came later there', async () => {
    const { logId } = store.log;
    const events = episodeEvents({ logId, runId, ordinal: 400, numSteps: 2 });
    const { episodeId } = events[0];
    const [started, step, , ended] = events as [AnyEvent, AnyEvent, AnyEvent, AnyEvent];
    const other = { ...step, payload: { ...(step.payload as StepRecorded), reward: 77 } } as AnyEvent;
    const late = episodeEvent(started, 'EpisodeEnded', 2, {
      ...(ended.payload as EpisodeEnded),
      numSteps: 1,
      success: null,
    });
    await store.bring([...events, other, late]);
    // The same batch once more, as a sink that was thought dead would bring it.
    await insertAgain(events);
    const columns = await reader.readEpisodes(runId, [episodeId]);
    expect([...columns.rewards]).toEqual([0, 1]);
    expect([...columns.successes]).toEqual([1]);
    const [row] = await store.client.queryRows<{ numSteps: number; seen: number }>(
      `SELECT num_steps AS numSteps, (SELECT count() FROM steps WHERE episode_id = {episodeId:String}) AS seen
       FROM episodes WHERE episode_id = {episodeId:String}`,
      { params: { episodeId } },
    );
    expect(row).toEqual({ numSteps: 2, seen: 2 });
  });

  it('returns rewards that were assigned later, retractions included', async () => {
    const events = episodeEvents({ logId: store.log.logId, runId, ordinal: 500 });
    const { episodeId } = events[0];
    const assigned = [
      { step: 1, name: 'judge', value: 0.5, source: 'rubric', rationale: 'fine' },
      { step: null, name: 'judge', value: null, source: 'rubric', rationale: 'taken back' },
    ].map((payload, seq) => episodeEvent(events[0], 'RewardAssigned', seq, payload));
    await store.bring([...events, ...assigned] as AnyEvent[]);
    expect(await reader.readAssignedRewards(runId, [episodeId])).toEqual([
      { episodeId, seq: 0, step: 1, name: 'judge', value: 0.5, source: 'rubric', rationale: 'fine' },
      {
        episodeId,
        seq: 1,
        step: null,
        name: 'judge',
        value: null,
        source: 'rubric',
        rationale: 'taken back',
      },
    ]);
    expect(await reader.readAssignedRewards(runId, [])).toEqual([]);
  });

  async function insertAgain(events: readonly AnyEvent[]): Promise<void> {
    const encoder = new EventRowsEncoder({
      logId: store.log.logId,
      stream: 'trajectories',
      partition: 0,
    });
    events.forEach((event, i) => encoder.append(eventRow(1_000_000 + i, event)));
    const { columns, body } = encoder.finish();
    await store.client.insertArrow({ table: 'events', columns, body });
  }
});
