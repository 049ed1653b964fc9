import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolveRecipe, type Recipe } from '@retrace/config';
import type { RunControlAnswer, RunControlRequest, RunQueueState } from '@retrace/process';
import type { CheckpointFiles } from '@retrace/policy';
import { ControlFold, type AnyEvent } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_QUEUED, RunQueue, type Train } from './run-queue.js';

const RUN_ID = '01890000-0000-7000-8000-00000000000';

/** A training that goes on until it is finished, failed or stopped. */
class FakeTraining {
  private readonly over = new AbortController();
  constructor(
    readonly runId: string,
    readonly recipe: Recipe,
  ) {}

  stop = () => {
    this.end('stopped');
    return Promise.resolve();
  };

  end(reason: 'finished' | 'stopped' | 'broken'): void {
    this.over.abort(reason);
  }

  async ended() {
    if (!this.over.signal.aborted) await once(this.over.signal, 'abort');
    const reason = this.over.signal.reason as 'finished' | 'stopped' | 'broken';
    if (reason === 'broken') throw new Error('trainer failed: no memory');
    return {
      ...{ runId: this.runId, reason, detail: '', numUpdates: 1, numLearningUpdates: 1 },
      ...{ policyVersion: 1, weightsSha256: null, metrics: {} },
    };
  }
}

describe('RunQueue', () => {
  let stored: unknown;
  let trainings: FakeTraining[];
  let lines: string[];
  let server: AbortController;
  beforeEach(() => {
    stored = null;
    trainings = [];
    lines = [];
    server = new AbortController();
  });

  const directory = {
    runQueue: () => stored,
    keepRunQueue: (queue: unknown) => {
      stored = JSON.parse(JSON.stringify(queue));
    },
  };
  const open = (kept = directory, state = new ControlFold()) =>
    new RunQueue({
      agents: () => null,
      checkpoints: { list: () => Promise.resolve([]) } as unknown as CheckpointFiles,
      directory: kept,
      say: (_, message) => lines.push(message),
      settings: () => [],
      readState: () => Promise.resolve(state),
    });
  const train: Train = (recipe, onBegun) => {
    const training = new FakeTraining(`${RUN_ID}${trainings.length}`, recipe);
    trainings.push(training);
    onBegun(training);
    return training.ended();
  };
  const ask = async (queue: RunQueue, request: RunControlRequest): Promise<RunQueueState> => {
    const answer = await queue.answer(request);
    if (!answer.ok) throw new Error(answer.message);
    return answer.queue;
  };
  const refused = async (queue: RunQueue, request: RunControlRequest) =>
    (await queue.answer(request)) as Extract<RunControlAnswer, { ok: false }>;
  const start = (seed: number) => ({ kind: 'start', start: { recipe: 'bandit-ppo', seed } }) as const;
  const begun = async (number: number) => {
    while (trainings.length < number) await sleep(1);
    return trainings[number - 1];
  };
  const show = (queue: RunQueue) => ask(queue, { kind: 'show' });

  it('trains one run at a time in the order asked for, after the first of the server', async () => {
    const queue = open();
    const first = queue.trainFirst(resolveRecipe('bandit-ppo'), train);
    await begun(1);
    await ask(queue, start(2));
    await ask(queue, start(3));
    const { queued } = await ask(queue, start(4));
    expect(queued.map((item) => item.start?.seed)).toEqual([2, 3, 4]);
    await ask(queue, { kind: 'cancel', queueId: queued[1].queueId });
    trainings[0].end('finished');
    await first;
    const working = queue.work(train, server.signal);
    expect((await begun(2)).recipe.seed).toBe(2);
    expect((await show(queue)).running).toMatchObject({ runId: `${RUN_ID}1`, status: 'running' });
    trainings[1].end('broken');
    expect((await begun(3)).recipe.seed).toBe(4);
    const { ended } = await show(queue);
    expect(ended.map(({ status, detail }) => [status, detail])).toEqual([
      ['failed', 'trainer failed: no memory'],
      ['finished', ''],
    ]);
    expect(lines).toContain('the run bandit-ppo of the queue failed: trainer failed: no memory');
    trainings[2].end('finished');
    while ((await show(queue)).running !== null) await sleep(1);
    server.abort();
    await working;
    expect(stored).toEqual([]);
  });

  it('goes on with what waited after a restart, and with the run that the end of the server stopped', async () => {
    const before = open();
    const working = before.work(train, server.signal);
    await ask(before, start(2));
    await begun(1);
    await ask(before, start(3));
    server.abort();
    void trainings[0].stop();
    await working;
    const { running, queued } = await show(open());
    expect(running).toBeNull();
    expect(queued.map(({ runId, start: asked }) => [runId, asked?.seed])).toEqual([
      [`${RUN_ID}0`, 2],
      [null, 3],
    ]);
  });

  it('trains the run that was asked for by a part of its id, after a restart and when another one has such an id', async () => {
    const state = new ControlFold();
    const recipe = JSON.parse(JSON.stringify(resolveRecipe('bandit-ppo', { seed: 3 }))) as never;
    const started = (runId: string) =>
      state.apply(
        controlEvent({ logId: '', runId }, 'RunStarted', { name: 'own', recipe }) as AnyEvent,
        state.nextOffset,
      );
    expect(started('01890000-0000-7000-8000-0000000000ab')).toEqual({ applied: true });
    const before = open(directory, state);
    await ask(before, { kind: 'start', start: { recipe: 'run:000000ab', numUpdates: 4 } });
    expect(started('01890000-0000-7000-8001-0000000000ab')).toEqual({ applied: true });
    const working = open(directory, state).work(train, server.signal);
    expect((await begun(1)).recipe).toMatchObject({ seed: 3, numUpdates: 4 });
    server.abort();
    void trainings[0].stop();
    await working;
  });

  it('resumes no run whose recipe names code, as the recipe of a run file from somebody else can', async () => {
    const state = new ControlFold();
    const [recipe, foreign] = [resolveRecipe('bandit-ppo'), resolveRecipe('bandit-ppo')].map(
      (one) => JSON.parse(JSON.stringify(one)) as Record<string, unknown>,
    );
    foreign.environment = { module: '/tmp/evil.mjs' };
    for (const [runId, own] of [
      [`${RUN_ID}1`, recipe],
      [`${RUN_ID}2`, foreign],
    ] as const)
      state.apply(
        controlEvent({ logId: '', runId }, 'RunStarted', { name: 'own', recipe: own as never }) as AnyEvent,
        state.nextOffset,
      );
    const queue = open(directory, state);
    expect((await ask(queue, { kind: 'resume', runId: `${RUN_ID}1` })).queued).toHaveLength(1);
    expect(await refused(queue, { kind: 'resume', runId: `${RUN_ID}2` })).toMatchObject({
      code: 'INVALID_START',
      message: expect.stringContaining('environment.module: got') as string,
    });
    expect((await show(queue)).queued).toHaveLength(1);
  });

  it('takes nothing that it can’t keep, and goes on with what it has where the disk is full', async () => {
    let isFull = false;
    const full = {
      ...directory,
      keepRunQueue: (queue: unknown) => {
        if (isFull) throw new Error('ENOSPC');
        directory.keepRunQueue(queue);
      },
    };
    const queue = open(full);
    await ask(queue, start(2));
    const { queued } = await ask(queue, start(3));
    isFull = true;
    expect(await refused(queue, start(4))).toMatchObject({ code: 'UNAVAILABLE' });
    const cancelled = { kind: 'cancel', queueId: queued[1].queueId } as const;
    expect(await refused(queue, cancelled)).toMatchObject({ code: 'UNAVAILABLE' });
    const working = queue.work(train, server.signal);
    expect((await begun(1)).recipe.seed).toBe(2);
    trainings[0].end('finished');
    expect((await begun(2)).recipe.seed).toBe(3);
    trainings[1].end('finished');
    while ((await show(queue)).running !== null) await sleep(1);
    server.abort();
    await working;
    expect(trainings).toHaveLength(2);
    expect(lines).toContain('the queue of runs can’t be kept in its file: ENOSPC');
  });

  it('does not keep a run that finishes while the server ends', async () => {
    const queue = open();
    const working = queue.work(train, server.signal);
    await ask(queue, start(2));
    await begun(1);
    server.abort();
    trainings[0].end('finished');
    await working;
    expect(stored).toEqual([]);
  });

  it('leaves out what is no item of a file', async () => {
    stored = [null, 7, 'run', { queueId: 'a' }, { queueId: 'b', name: 'bandit-ppo' }];
    expect((await show(open())).queued.map(({ queueId }) => queueId)).toEqual(['b']);
  });

  it('forgets a run that a caller stops', async () => {
    const queue = open();
    const working = queue.work(train, server.signal);
    await ask(queue, start(2));
    const { runId } = await begun(1);
    expect(await refused(queue, { kind: 'stop', runId: `${RUN_ID}9` })).toMatchObject({
      code: 'RUN_NOT_TRAINING',
    });
    expect((await ask(queue, { kind: 'stop', runId })).running?.status).toBe('stopping');
    while ((await show(queue)).running !== null) await sleep(1);
    expect((await show(queue)).ended).toMatchObject([{ runId, status: 'stopped' }]);
    server.abort();
    await working;
    expect(stored).toEqual([]);
  });

  it('refuses more runs than may wait, unknown ones, and what names anything but built-in recipes', async () => {
    const queue = open();
    for (let seed = 0; seed < MAX_QUEUED; seed++) await ask(queue, start(seed));
    expect(await refused(queue, start(99))).toMatchObject({ code: 'QUEUE_FULL' });
    expect(await refused(queue, { kind: 'cancel', queueId: 'none' })).toMatchObject({ code: 'NOT_QUEUED' });
    expect(await refused(queue, { kind: 'resume', runId: RUN_ID })).toMatchObject({ code: 'RUN_UNKNOWN' });
    const invalid = [
      [{ recipe: '/tmp/evil.json' }, 'recipe: got "/tmp/evil.json", must be one of the built-in recipes'],
      [{ recipe: 'bandit-ppo', initFrom: './model' }, 'initFrom: got "./model", must be "run:<run>"'],
      [{ recipe: 'bandit-ppo', algorithm: 'none' }, 'none'],
      [{ recipe: 'bandit-ppo', overrides: { 'engine.kind': 'torch' } }, 'overrides.engine.kind: got "torch"'],
      [{ recipe: 'bandit-ppo', overrides: { 'optimizer.learningRate': 2 } }, 'optimizer.learningRate: got 2'],
    ] as const;
    for (const [asked, message] of invalid) {
      expect(await refused(queue, { kind: 'start', start: asked })).toMatchObject({
        code: 'INVALID_START',
        message: expect.stringContaining(message) as string,
      });
    }
  });
});
