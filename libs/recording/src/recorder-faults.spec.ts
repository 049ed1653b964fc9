import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fault, faultyLog } from '@retrace/log/testing';
import { Sink, untilVisible, verifyStore } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { Recorder } from './recorder.js';
import { RecordingError } from './recording-error.js';

let store: StoreFixture;
const stop = new AbortController();
let sinking: Promise<void>;

beforeAll(async () => {
  store = await openStoreFixture({ numTrajectoryPartitions: 3 });
  const { log, client } = store;
  sinking = new Sink({ minInsertIntervalMs: 20, lingerMs: 2 }).run({ log, client, signal: stop.signal });
});

afterAll(async () => {
  stop.abort();
  await sinking;
  await store?.close();
});

/** A recorder that forgets every episode at once, so that each batch reads the store. */
const FORGETFUL = { maxStateBytes: 1 };

interface Outcome {
  readonly code: string;
  readonly accepted: number;
}

const outcomeOf = (appending: Promise<{ accepted: number }>): Promise<Outcome> =>
  appending.then(
    ({ accepted }) => ({ code: '', accepted }),
    (error: unknown) => {
      if (!(error instanceof RecordingError)) throw error;
      return { code: error.code, accepted: 0 };
    },
  );

/** One step that a batch may hold: of episode e, its number n, and which of two contents it has. */
type Draw = readonly ['episode' | 'step' | 'end', number, number, number];

const NUM_EPISODES = 3;

/** An independent account of what each batch must do: episodes as lists of contents, changed only by whole batches. */
class Model {
  private episodes = new Map<number, { start: number; steps: number[]; end: number | null }>();

  apply(batch: readonly Draw[]): string {
    const copy = structuredClone(this.episodes);
    for (const [type, e, n, content] of batch) {
      const episode = copy.get(e);
      if (type === 'episode') {
        if (episode !== undefined && episode.start !== content) return 'EPISODE_CONFLICT';
        if (episode === undefined) copy.set(e, { start: content, steps: [], end: null });
      } else if (episode === undefined) return 'EPISODE_UNKNOWN';
      else if (type === 'step') {
        if (n < episode.steps.length && episode.steps[n] !== content) return 'STEP_CONFLICT';
        if (n >= episode.steps.length && episode.end !== null) return 'EPISODE_ENDED';
        if (n > episode.steps.length) return 'STEP_OUT_OF_ORDER';
        if (n === episode.steps.length) episode.steps.push(content);
      } else if (episode.end === null) episode.end = content;
      else if (episode.end !== content) return 'END_CONFLICT';
    }
    this.episodes = copy;
    return '';
  }

  /** Replaces a drawn number by a step: mostly the next of its episode. */
  resolve(batch: readonly Draw[]): Draw[] {
    const next = new Map([...this.episodes].map(([e, { steps }]) => [e, steps.length]));
    return batch.map(([type, e, n, content]) => {
      const at = next.get(e) ?? 0;
      const step = [at, at, at, at, 0, at + 1][n];
      if (type === 'step' && step === at) next.set(e, at + 1);
      return [type, e, step, content];
    });
  }

  /** Steps of each episode that has started: its name, and the contents in order. */
  get steps(): [number, number[]][] {
    return [...this.episodes].sort(([a], [b]) => a - b).map(([e, { steps }]) => [e, steps]);
  }
}

const STARTS: readonly Draw[] = Array.from({ length: NUM_EPISODES }, (_, e) => ['episode', e, 0, 0]);

const draws = fc.array(
  fc.array(
    fc.tuple(
      fc.constantFrom('episode' as const, ...new Array<'step'>(8).fill('step'), 'end' as const),
      fc.nat(NUM_EPISODES - 1),
      fc.nat(5),
      // Mostly the same content, so that batches get far.
      fc.constantFrom(...new Array<number>(20).fill(0), 1),
    ),
    { minLength: 1, maxLength: 4 },
  ),
  { minLength: 20, maxLength: 20 },
);

const recordOf = ([type, e, n, content]: Draw): object =>
  type === 'episode'
    ? { type, episode: `e${e}`, task: content }
    : type === 'step'
      ? { type, episode: `e${e}`, step: n, action: `content ${content}`, reward: 1 }
      : { type, episode: `e${e}`, endReason: 'truncated', detail: `content ${content}` };

const storedSteps = async (runId: string): Promise<[number, number[]][]> => {
  const rows = await store.client.queryRows<{ name: string; actions: string[]; isWhole: number }>(
    `SELECT external_id AS name, s.actions AS actions, isNull(e.num_steps) OR e.num_steps = length(s.actions) AS isWhole
     FROM episodes AS e
     LEFT JOIN (
       SELECT episode_id, arrayMap(x -> x.2, arraySort(groupArray((step, action)))) AS actions
       FROM steps WHERE run_id = {runId:String} GROUP BY episode_id
     ) AS s ON e.episode_id = s.episode_id
     WHERE e.run_id = {runId:String} ORDER BY external_id`,
    { params: { runId } },
  );
  expect(rows.every(({ isWhole }) => isWhole === 1)).toBe(true);
  return rows.map(({ name, actions }) => [
    Number(name.slice(1)),
    actions.map((action) => Number(action.slice(8))),
  ]);
};

describe('recorder, random batches', () => {
  const asAccountDoes =
    '%s: takes and refuses what an independent account does, and half a batch is never stored';
  const keepsToAccount = async (_: string, kinds: NonNullable<Parameters<typeof Recorder.open>[2]>[]) => {
    const { log, client } = store;
    const recorders = await Promise.all(kinds.map((options) => Recorder.open(log, client, options)));
    await fc.assert(
      fc.asyncProperty(
        draws,
        fc.array(fc.nat(recorders.length - 1), { minLength: 20, maxLength: 20 }),
        async (batches, turns) => {
          const { runId } = await recorders[0].startRun({ name: 'random' });
          const model = new Model();
          for (const [i, drawn] of batches.entries()) {
            const batch = i === 0 ? STARTS : model.resolve(drawn);

            const { code } = await outcomeOf(recorders[turns[i]].append(runId, batch.map(recordOf)));
            expect(code).toBe(model.apply(batch));
          }
          await untilVisible(log, client);
          expect(await storedSteps(runId)).toEqual(model.steps);
        },
      ),
      { numRuns: 2, seed: 1, endOnFailure: true },
    );
    for (const recorder of recorders) await recorder.close();
    expect(await verifyStore({ log, client })).toMatchObject({ faults: [] });
  };
  it.each([['three that take turns', [{}, {}, FORGETFUL]]])(asAccountDoes, keepsToAccount);
  it.each([
    ['one that remembers', [{}]],
    ['one that forgets everything at once', [FORGETFUL]],
  ])(asAccountDoes, { tags: 'release' }, keepsToAccount);
});

describe('recorder, a log that fails', () => {
  it('acknowledges each step once whatever happens to appends, and refuses within the time limit', async () => {
    const { client } = store;
    const random = fc.sample(
      fc.constantFrom<Fault>('none', 'none', 'none', 'refused', 'lostAnswer', 'landsAndHangs', 'hangs'),
      {
        numRuns: 4_000,
        seed: 3,
      },
    );
    let next = 0;
    let isFaulty = true;
    const log = faultyLog(store.log, () => (isFaulty ? random[next++ % random.length] : 'none'));
    const recorder = await Recorder.open(log, client, { appendTimeoutMs: 400 });
    isFaulty = false;
    const { runId } = await recorder.startRun({ name: 'faults' });
    isFaulty = true;
    let numRefused = 0;
    const send = async (records: readonly object[]): Promise<void> => {
      for (;;) {
        const startedMs = performance.now();
        const { code } = await outcomeOf(recorder.append(runId, records));
        expect(performance.now() - startedMs).toBeLessThan(15_000);
        if (code === '') return;
        expect(code).toBe('LOG_UNAVAILABLE');
        numRefused += 1;
      }
    };
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const episode = newRunId();
        await send([{ type: 'episode', episode }]);
        for (let step = 0; step < 6; step += 2) {
          await send(
            [0, 1].map((i) => ({ type: 'step', episode, step: step + i, action: `${step + i}`, reward: 1 })),
          );
        }
        await send([{ type: 'end', episode, numSteps: 6 }]);
      }),
    );
    expect(numRefused).toBeGreaterThan(20);
    isFaulty = false;
    await recorder.close();
    await untilVisible(store.log, client);
    const [counts] = await client.queryRows(
      `SELECT count() AS episodes, sum(return) AS return, sum(num_steps) AS steps,
         (SELECT count() FROM steps WHERE run_id = {runId:String}) AS stored
       FROM episodes WHERE run_id = {runId:String}`,
      { params: { runId } },
    );
    expect(counts).toEqual({ episodes: 8, return: 48, steps: 48, stored: 48 });
    expect(await verifyStore({ log: store.log, client })).toMatchObject({ faults: [] });
  });
});
