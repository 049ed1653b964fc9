import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { faultyLog, type Fault } from '@retrace/log/testing';
import { CheckpointFiles, OfferedPolicy, OfferFile, WatchedOffers } from '@retrace/policy';
import type { AnyEvent } from '@retrace/trajectory';
import { KnownEvents } from '@retrace/trajectory/codec';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun } from './support/in-process-run.js';

/*
 * Trainer and collector around one log: the collector plays with the next policy while the trainer still commits the update that made it.
 */

const NUM_UPDATES = 4;
/** The update whose commit does not come about. */
const FAILS_AT = 2;
const NUM_EPISODES = 64;
const SMALL = [
  ...['collection.groupsPerRound=8', 'collection.groupSize=8', 'collection.concurrentEpisodes=32'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16', 'checkpoint.keepEvery=1'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.learningRate=0.01'],
];
const recipe: Recipe = resolveRecipe('memory-bandit-grpo', { numUpdates: NUM_UPDATES, assignments: SMALL });

/** Counts the episodes whose end the collector has written. */
class CountedEvents extends KnownEvents {
  numEnded = 0;

  override remember(event: AnyEvent, bytes: Uint8Array): void {
    super.remember(event, bytes);
    if (event.kind === 'EpisodeEnded') this.numEnded += 1;
  }
}

let directory: string;
beforeAll(async () => {
  await openBackend();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-colocated-'));
});
afterEach(() => rm(directory, { recursive: true }));

const finalWeights = async (run: InProcessRun) => (await run.folded()).run.updates.lastUpdate?.weights.sha256;

async function undisturbed(): Promise<string | undefined> {
  const run = await InProcessRun.begin(join(directory, 'undisturbed'), recipe);
  await run.work();
  const weights = await finalWeights(run);
  await run.close();
  return weights;
}

/** Episodes of which the log has any event. */
async function numEpisodes(run: InProcessRun): Promise<number> {
  return new Set((await run.episodeEvents()).map(({ episodeId }) => episodeId)).size;
}

interface Sharing {
  /** For both, where they are in one process; */
  readonly shared?: { readonly offered: OfferedPolicy; readonly known: CountedEvents };
  /** for the trainer, and the collector, where they are in two. */
  readonly offerFile?: OfferFile;
  readonly watched?: { readonly offered: WatchedOffers; readonly known: CountedEvents };
  /** Called where the files of an update are written, before its commit is appended. */
  readonly beforeCommit?: (updateNumber: number) => Promise<void>;
}

/** Trainer and collector, each with its view of the log; where the trainer fails, the collector ends, as their process does. */
async function workTogether(
  run: InProcessRun,
  { shared, offerFile, watched, beforeCommit }: Sharing,
): Promise<void> {
  const failed = new AbortController();
  const spool = { directory: join(directory, 'spool'), maxBytes: 1e8 };
  const collecting = run.work({ roles: ['collector'], shared, watched, spool, signal: failed.signal });
  const ofTrainer = await run.openAgain();
  try {
    await ofTrainer.work({
      roles: ['trainer'],
      shared,
      offerFile,
      onPoint: async (point, updateNumber) => {
        if (point === 'filesWritten') await beforeCommit?.(updateNumber);
      },
    });
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    await collecting;
  }
}

/** Waits until a round is played that is not in the log yet. */
async function untilPlayed(known: CountedEvents, numEnded: number): Promise<void> {
  while (known.numEnded < numEnded) await sleep(5);
}

describe('trainer and collector around one log', () => {
  it('end with the weights of two that share nothing, and every round after the first is played before its policy is published', async () => {
    const run = await InProcessRun.begin(join(directory, 'run'), recipe);
    const shared = { offered: new OfferedPolicy(), known: new CountedEvents() };
    const numInLog: number[] = [];
    await workTogether(run, {
      shared,
      beforeCommit: async (updateNumber) => {
        if (updateNumber === NUM_UPDATES) return;
        await untilPlayed(shared.known, (updateNumber + 1) * NUM_EPISODES);
        numInLog.push((await run.episodeEvents()).filter(({ kind }) => kind === 'EpisodeEnded').length);
      },
    });
    expect(numInLog).toEqual([1, 2, 3].map((rounds) => rounds * NUM_EPISODES));
    expect(await finalWeights(run)).toBe(await undisturbed());
    expect(await run.replayAll()).toMatchObject({ numUpdates: NUM_UPDATES, differing: [] });
    await run.close();
  });

  const noTrace =
    'leave no trace of a round whose policy is never published: the process ends %s, the round %s';
  const leaveNoTrace = async (at: 'beforeFiles' | 'beforeCommit', _: string, numOfRound: number) => {
    const checkpoints = new CheckpointFiles(join(directory, 'checkpoints'));
    const run = await InProcessRun.begin(join(directory, 'run'), recipe, { checkpoints });
    const shared = { offered: new OfferedPolicy(), known: new CountedEvents() };
    const numPlayed = FAILS_AT * NUM_EPISODES + numOfRound;
    const crash = async () => {
      await untilPlayed(shared.known, numPlayed);
      throw new Error('crashed');
    };
    const write = checkpoints.write.bind(checkpoints);
    checkpoints.write = async (...content) => {
      if (at === 'beforeFiles' && shared.offered.version === FAILS_AT) await crash();
      return write(...content);
    };
    const working = workTogether(run, {
      shared,
      beforeCommit: async (updateNumber) => {
        if (updateNumber === FAILS_AT) await crash();
      },
    });
    await expect(working).rejects.toThrow('crashed');
    expect(shared.known.numEnded).toBeGreaterThanOrEqual(numPlayed);
    expect(await numEpisodes(run)).toBe(FAILS_AT * NUM_EPISODES);
    expect(run.numSpooledBytes).toBe(0);
    const { run: state } = await run.folded();
    expect(state.updates.lastUpdate?.updateNumber).toBe(FAILS_AT - 1);
    checkpoints.write = write;

    await workTogether(run, { shared: { offered: new OfferedPolicy(), known: new CountedEvents() } });
    expect(await numEpisodes(run)).toBe(NUM_UPDATES * NUM_EPISODES);
    expect(await finalWeights(run)).toBe(await undisturbed());
    await run.close();
  };
  it.each([
    ['beforeFiles', 'played', NUM_EPISODES],
    ['beforeCommit', 'half played', NUM_EPISODES / 4],
  ] as const)(noTrace, leaveNoTrace);
  it.each([
    ['beforeCommit', 'played', NUM_EPISODES],
    ['beforeFiles', 'half played', NUM_EPISODES / 4],
  ] as const)(noTrace, { tags: 'release' }, leaveNoTrace);
});

describe('trainer and collector of two processes on one machine', () => {
  const open = async () => {
    const location = { directory: join(directory, 'checkpoints'), storage: null };
    const checkpoints = new CheckpointFiles(location.directory);
    const run = await InProcessRun.begin(join(directory, 'run'), recipe, { checkpoints });
    const { runId } = (await run.folded()).run;
    const offered = await WatchedOffers.open(location, runId);
    if (!offered) throw new Error('the directory is not watched');
    const watched = { offered, known: new CountedEvents() };
    return { run, watched, offerFile: OfferFile.at(location, runId) };
  };

  it('end with the weights of two that share nothing, and rounds are played before their policy is published', async () => {
    const { run, watched, offerFile } = await open();
    await workTogether(run, {
      ...{ watched, offerFile },
      beforeCommit: async (updateNumber) => {
        if (updateNumber === NUM_UPDATES) return;
        await untilPlayed(watched.known, (updateNumber + 1) * NUM_EPISODES);
        expect(await numEpisodes(run)).toBe(updateNumber * NUM_EPISODES);
      },
    });
    expect(await finalWeights(run)).toBe(await undisturbed());
    watched.offered.close();
    await run.close();
  });

  it('bring a round into the log although the log does not say that its end is there', async () => {
    const { run, watched, offerFile } = await open();
    const faults: Fault[] = ['lostAnswer', 'refused'];
    const collector = await run.openAgain((log) => faultyLog(log, () => faults.pop() ?? 'none'));
    const collecting = collector.work({ roles: ['collector'], watched });
    await run.work({ roles: ['trainer'], offerFile });
    await collecting;
    expect(faults).toEqual([]);
    expect(await numEpisodes(run)).toBe(NUM_UPDATES * NUM_EPISODES);
    expect(await finalWeights(run)).toBe(await undisturbed());
    watched.offered.close();
    await run.close();
  });

  it('drop a round whose policy is published with other weights than were offered, and play it again', async () => {
    const { run, watched, offerFile } = await open();
    await workTogether(run, {
      watched,
      beforeCommit: async (updateNumber) => {
        if (updateNumber !== FAILS_AT) return;
        const { latest } = (await run.folded()).run.policies;
        if (!latest) throw new Error('no policy is published');
        const weights = { ...latest.weights, name: '' };
        await offerFile?.announce({ policyVersion: FAILS_AT, weights });
        await untilPlayed(watched.known, (FAILS_AT + 1) * NUM_EPISODES);
      },
    });
    expect(watched.known.numEnded).toBe((NUM_UPDATES + 1) * NUM_EPISODES);
    expect(await numEpisodes(run)).toBe(NUM_UPDATES * NUM_EPISODES);
    expect(await finalWeights(run)).toBe(await undisturbed());
    watched.offered.close();
    await run.close();
  });

  it('keep a round whose trainer dies before it publishes the policy, and publishes it after its restart', async () => {
    const { run, watched, offerFile } = await open();
    const collecting = run.work({ roles: ['collector'], watched });
    const train = async (beforeCommit?: (updateNumber: number) => Promise<void>) => {
      const ofTrainer = await run.openAgain();
      await ofTrainer.work({
        roles: ['trainer'],
        offerFile,
        onPoint: async (point, updateNumber) => {
          if (point === 'filesWritten') await beforeCommit?.(updateNumber);
        },
      });
    };
    const dying = train(async (updateNumber) => {
      if (updateNumber !== FAILS_AT) return;
      await untilPlayed(watched.known, (FAILS_AT + 1) * NUM_EPISODES);
      throw new Error('crashed');
    });
    await expect(dying).rejects.toThrow('crashed');
    await train();
    await collecting;
    expect(watched.known.numEnded).toBe(NUM_UPDATES * NUM_EPISODES);
    expect(await finalWeights(run)).toBe(await undisturbed());
    watched.offered.close();
    await run.close();
  });
});
