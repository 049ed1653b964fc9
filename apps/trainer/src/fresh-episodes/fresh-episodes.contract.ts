import { catchUp, TrajectoryReader, type StoreClient } from '@retrace/store';
import { choosePartition, trajectoryEnds, type EventLog } from '@retrace/log';
import { overriding } from '@retrace/log/testing';
import {
  ControlFold,
  episodeDigests,
  episodeIdFor,
  newRunId,
  type AnyEvent,
  type EpisodeColumns,
  type RunState,
} from '@retrace/trajectory';
import { decodeEvent, encodeEvent, KnownEvents } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { deriveSeed, Pcg32, shuffle } from '@retrace/random';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EpisodeTail } from './episode-tail.js';
import { FreshEpisodes } from './fresh-episodes.js';

/** A log and an empty store of a test. */
export interface LogAndStore {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly close: () => Promise<void>;
}

/** Everything of an episode that a store may show: its columns and texts, or the code of the error that says why not. */
type Shown =
  | { readonly columns: EpisodeColumns; readonly digest: string; readonly texts: unknown }
  | { readonly code: string };

/** Tests that what the log hands over is what the store will show. */
export function freshEpisodesContract(open: () => Promise<LogAndStore>): void {
  let opened: LogAndStore;
  const runId = newRunId();
  const signal = new AbortController().signal;
  const idOf = (ordinal: number) => episodeIdFor({ runId, ordinal });

  beforeAll(async () => {
    opened = await open();
    const { log } = opened;
    await log.append('control', 0, [encodeEvent(controlEvent({ logId: log.logId, runId }, 'RunStarted'))]);
  });
  afterAll(() => opened.close());

  async function freshFrom(
    ends: readonly number[],
    options: { readonly maxBytes?: number; readonly known?: KnownEvents } = {},
  ) {
    const { log, client } = opened;
    const reader = new TrajectoryReader(client);
    return FreshEpisodes.open({
      ...{
        log,
        ends,
        signal,
        isCollected: true,
        keepsTexts: true,
        stored: reader,
        run: await followRun(log, runId),
      },
      ...options,
    });
  }

  /** Appends in order, each record to the partition of its episode. */
  async function append(records: readonly { readonly episodeId: string; readonly bytes: Uint8Array }[]) {
    const { log } = opened;
    for (const { episodeId, bytes } of records)
      await log.append('trajectories', choosePartition(runId, episodeId, log.numPartitions('trajectories')), [
        bytes,
      ]);
  }

  it('shows whole episodes before a store has any, and those of a round that began before it was opened', async () => {
    const { log } = opened;
    const ends = await trajectoryEnds(log);
    const [first, second] = [0, 1].map((ordinal) => episodeEvents({ logId: log.logId, runId, ordinal }));
    await append(first.map(asRecord));
    const fresh = await freshFrom(ends);
    await append(second.slice(0, -1).map(asRecord));
    await expect(fresh.readEpisodes(runId, [idOf(0), idOf(1)])).rejects.toMatchObject({
      code: 'NOT_YET_VISIBLE',
    });
    await append(second.slice(-1).map(asRecord));
    const columns = await fresh.readEpisodes(runId, [idOf(1), idOf(0), idOf(1)]);
    expect(columns.episodeIds).toEqual([idOf(1), idOf(0), idOf(1)]);
    expect(columns.stepOffsets.at(-1)).toBe(9);
    await fresh.close();
  });

  it('leaves the oldest to the store once memory is full', async () => {
    const { log, client } = opened;
    const ends = await trajectoryEnds(log);
    const fresh = await freshFrom(ends, { maxBytes: 12_000 });
    const ordinals = [10, 11, 12, 13, 14, 15];
    for (const ordinal of ordinals)
      await append(episodeEvents({ logId: log.logId, runId, ordinal }).map(asRecord));
    expect((await fresh.readEpisodes(runId, [idOf(15)])).episodeIds).toEqual([idOf(15)]);
    await expect(fresh.readEpisodes(runId, [idOf(10)])).rejects.toMatchObject({ code: 'NOT_YET_VISIBLE' });
    // Doubled records, as of a writer that sends again, bring back nothing.
    await append(episodeEvents({ logId: log.logId, runId, ordinal: 10 }).map(asRecord));
    await expect(fresh.readEpisodes(runId, [idOf(10)])).rejects.toMatchObject({ code: 'NOT_YET_VISIBLE' });
    await catchUp(log, client);
    expect((await fresh.readEpisodes(runId, [idOf(10)])).episodeIds).toEqual([idOf(10)]);
    await fresh.close();
  });

  it('keeps to its memory also where episodes are begun by records that do not count', async () => {
    // Every record is too large.
    const log = overriding(opened.log, { maxEventBytes: 10 });
    const maxBytes = 20_000;
    const from = await trajectoryEnds(log);
    const tail = new EpisodeTail({ log, runId, from, keepsTexts: false, maxBytes });
    for (let ordinal = 1_000; ordinal < 1_040; ordinal++)
      await append(episodeEvents({ logId: log.logId, runId, ordinal, numSteps: 0 }).map(asRecord));
    expect((await tail.readAll([idOf(1_000)], signal)).size).toBe(0);
    expect(tail.keptBytes).toBeLessThanOrEqual(maxBytes);
    await tail.close();
  });

  it('keeps no episodes of groups that nobody asks for any more', async () => {
    const { log } = opened;
    const needed = new Set([1001, 1002, 1003].map((group) => `group-${group}`));
    const from = await trajectoryEnds(log);
    const isNeeded = (groupId: string) => needed.has(groupId);
    const tail = new EpisodeTail({ log, runId, from, keepsTexts: true, isNeeded });
    // Two of them are 6 MB.
    const step = () => ({ observation: 'a long text '.repeat(60_000) });
    const ordinals = [2000, 2001, 2002, 2004, 2006];
    const keptAfter = async (ordinal: number) => {
      await append(episodeEvents({ logId: log.logId, runId, ordinal, numSteps: 2, step }).map(asRecord));
      return [...(await tail.readAll(ordinals.map(idOf), signal)).keys()];
    };
    expect(await keptAfter(2000)).toEqual([idOf(2000)]);
    expect(await keptAfter(2001)).toEqual([]);
    expect(await keptAfter(2002)).toEqual([idOf(2002)]);
    needed.delete('group-1001');
    expect(await keptAfter(2004)).toEqual([idOf(2004)]);
    expect(await keptAfter(2006)).toEqual([idOf(2004), idOf(2006)]);
    await tail.close();
  });

  it('shows no episode that was deleted', async () => {
    const { log } = opened;
    const fresh = await freshFrom(await trajectoryEnds(log));
    await append(episodeEvents({ logId: log.logId, runId, ordinal: 20 }).map(asRecord));
    expect((await fresh.readEpisodes(runId, [idOf(20)])).episodeIds).toEqual([idOf(20)]);
    const deleted = controlEvent({ logId: log.logId, runId }, 'EpisodesDeleted', { episodeIds: [idOf(20)] });
    await log.append('control', 0, [encodeEvent(deleted)]);
    const after = await freshFrom(await trajectoryEnds(log));
    await expect(after.readEpisodes(runId, [idOf(20)])).rejects.toMatchObject({ code: 'NOT_YET_VISIBLE' });
    await fresh.close();
    await after.close();
  });

  it('shows of damaged, doubled, late, contradictory and foreign records exactly what the store shows', async () => {
    const { log, client } = opened;
    const ends = await trajectoryEnds(log);
    const known = new KnownEvents();
    const fresh = await freshFrom(ends, { known });
    const ordinals = Array.from({ length: 40 }, (_, i) => 100 + i);
    const records = messyRecords({ logId: log.logId, runId, ordinals, seed: 7 });
    // A collector of this process wrote every second one.
    for (const { bytes } of records.filter((_, i) => i % 2 === 0)) {
      const decoded = decodeEvent(bytes);
      if (decoded.ok) known.remember(decoded.event, bytes);
    }
    await append(records);
    const before: Shown[] = [];
    for (const ordinal of ordinals) before.push(await shownBy(fresh, runId, idOf(ordinal)));
    await catchUp(log, client);
    const reader = new TrajectoryReader(client);
    const after: Shown[] = [];
    for (const ordinal of ordinals) after.push(await shownBy(reader, runId, idOf(ordinal)));
    expect(before).toEqual(after);
    const numWhole = before.filter((shown) => 'columns' in shown).length;
    expect(numWhole).toBeGreaterThan(10);
    expect(numWhole).toBeLessThan(ordinals.length - 5);
    await fresh.close();
  });
}

async function shownBy(
  source: Pick<TrajectoryReader, 'readEpisodes' | 'readEpisodeTexts'>,
  runId: string,
  episodeId: string,
): Promise<Shown> {
  try {
    const columns = await source.readEpisodes(runId, [episodeId]);
    const [{ environment, task, finalObservation, steps }] = await source.readEpisodeTexts(runId, [
      episodeId,
    ]);
    const texts = steps.map(({ observation, action, parsedAction, rewardNames, rewardValues }) => ({
      ...{ observation, action, parsedAction, rewardNames, rewardValues },
    }));
    const [digest] = episodeDigests(columns);
    return { columns, digest, texts: { environment, task, finalObservation, steps: texts } };
  } catch (error) {
    return { code: (error as { readonly code: string }).code };
  }
}

const asRecord = (event: AnyEvent) => ({ episodeId: event.episodeId, bytes: encodeEvent(event) });

/** Records of episodes as the worst writers would leave them, in an order that keeps no episode together. */
function messyRecords({
  logId,
  runId,
  ordinals,
  seed,
}: {
  readonly logId: string;
  readonly runId: string;
  readonly ordinals: readonly number[];
  readonly seed: number;
}) {
  const random = new Pcg32(deriveSeed(seed, 'messy', 0));
  const chance = (share: number) => random.nextUint32() / 2 ** 32 < share;
  const records = ordinals.map((ordinal) => {
    const events = messyEpisode({ logId, runId, ordinal }, random);
    // A small swap is what several writers and retries do; a shuffle is the worst case.
    if (chance(0.3)) shuffle(events, random);
    const encoded = events.map(asRecord);
    if (chance(0.15)) encoded[Math.floor(encoded.length / 2)].bytes[40] ^= 0xff;
    if (chance(0.1)) encoded.push({ episodeId: events[0].episodeId, bytes: Buffer.from('no event at all') });
    return encoded;
  });
  const merged = [];
  for (let open = records.filter((list) => list.length > 0); open.length > 0;) {
    const list = open[random.nextUint32() % open.length];
    merged.push(...list.splice(0, 1 + (random.nextUint32() % 3)));
    open = open.filter(({ length }) => length > 0);
  }
  return merged;
}

function messyEpisode(
  ids: { readonly logId: string; readonly runId: string; readonly ordinal: number },
  random: Pcg32,
) {
  const numSteps = random.nextUint32() % 5;
  const reward = [null, 0, -0.25, 1e300][random.nextUint32() % 4];
  const started = { task: { level: ids.ordinal, name: 'Zürich 😀' } };
  const events = episodeEvents({ ...ids, numSteps, started, step: () => ({ reward }) });
  const { episodeId } = events[0];
  const at = { ...ids, episodeId };
  const chance = (share: number) => random.nextUint32() / 2 ** 32 < share;
  // Other content at places that are taken, or will be.
  if (chance(0.3))
    events.push(
      episodeEvent(at, 'EpisodeEnded', numSteps + 1, { ...makeEnd(events), success: null }) as AnyEvent,
    );
  if (chance(0.2) && numSteps > 1)
    events.splice(
      1,
      0,
      episodeEvent(at, 'EpisodeEnded', numSteps, { ...makeEnd(events), numSteps: numSteps - 1 }) as AnyEvent,
    );
  if (chance(0.2) && numSteps > 0) {
    const other = events.find(({ kind }) => kind === 'StepRecorded') as Extract<
      AnyEvent,
      { kind: 'StepRecorded' }
    >;
    events.push({ ...other, payload: { ...other.payload, observation: 'something else' } });
  }
  if (chance(0.2)) events.push(...events.slice(0, 2));
  if (chance(0.2)) events.push(episodeEvent(at, 'RewardAssigned', 0) as AnyEvent);
  if (chance(0.15)) events.splice(random.nextUint32() % events.length, 1);
  // Of another run under the same episode id.
  if (chance(0.2))
    events.push(...episodeEvents({ ...ids, runId: newRunId(), numSteps: 1 }).map((event) => event));
  return events;
}

function makeEnd(events: readonly AnyEvent[]) {
  const end = events.find(({ kind }) => kind === 'EpisodeEnded') as Extract<
    AnyEvent,
    { kind: 'EpisodeEnded' }
  >;
  return end.payload;
}

/** The run as the control stream tells it now. */
async function followRun(log: EventLog, runId: string): Promise<() => RunState> {
  const fold = new ControlFold();
  for (const { offset, bytes } of await log.read('control', 0, 0)) {
    const decoded = decodeEvent(bytes);
    if (decoded.ok) fold.apply(decoded.event, offset);
    else fold.skip(offset);
  }
  const run = fold.run(runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the log`);
  return () => run;
}
