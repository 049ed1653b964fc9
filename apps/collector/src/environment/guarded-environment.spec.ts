import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment, Observation, StepResult } from '@retrace/environments';
import { describe, expect, it } from 'vitest';
import { GuardedEnvironment, sampleTask } from './guarded-environment.js';

const observation: Observation = { text: 'here', anchor: null, legalActions: ['go'] };
const result: StepResult = {
  observation,
  reward: 1,
  rewardNames: ['go'],
  rewardValues: [1],
  terminated: true,
  truncated: false,
  parsedAction: 'go',
  actionValid: true,
  success: true,
  info: { depth: [1] },
};
const limits = { resetTimeoutMs: 20, stepTimeoutMs: 20 };
const task = { task: null, seed: 1 };

/** A guarded environment that is played by these functions, and the number of instances that were made and closed. */
function guard(plays: Partial<Environment>) {
  const count = { created: 0, closed: 0 };
  const create = (): Environment => {
    count.created += 1;
    const close = () => void (count.closed += 1);
    return { reset: () => observation, step: () => result, close, ...plays };
  };
  return { count, environment: new GuardedEnvironment({ create }, limits) };
}

describe('GuardedEnvironment', () => {
  it('answers directly where the environment does, or later, with the fields that an answer has', async () => {
    const direct = guard({ reset: () => ({ ...observation, hidden: 7 }) as Observation });
    expect(direct.environment.reset(task)).toEqual({ ok: true, value: observation });
    expect(direct.environment.step('go')).toEqual({ ok: true, value: result });
    const later = guard({ step: () => Promise.resolve(result) });
    expect(await later.environment.step('go')).toEqual({ ok: true, value: result });
  });

  it('gives the reason of a failure, and makes the environment again for the next reset', async () => {
    const { environment, count } = guard({
      step: () => {
        throw new Error('lost\nthe \ud800 server');
      },
    });
    await environment.reset(task);
    expect(await environment.step('go')).toEqual({
      ok: false,
      failure: 'step threw "lost the \ufffd server"',
    });
    expect(environment.reset(task)).toMatchObject({ ok: true });
    await sleep(0);
    expect(count).toEqual({ created: 2, closed: 1 });
  });

  it('gives a slow environment up after its time, and discards what it answers later', async () => {
    const answers: ((late: Observation) => void)[] = [];
    const { environment, count } = guard({ reset: () => new Promise((resolve) => answers.push(resolve)) });
    const first = environment.reset(task);
    expect(await first).toEqual({ ok: false, failure: 'reset did not answer within 20 ms' });
    const second = environment.reset(task);
    answers[0]({ ...observation, text: 'late' });
    answers[1](observation);
    expect(await second).toEqual({ ok: true, value: observation });
    expect(count.created).toBe(2);
  });

  it('counts the time of a reset from when the environment is ready', async () => {
    const ready = () => sleep(60);
    const quick = guard({ ready, reset: () => Promise.resolve(observation) });
    expect(await quick.environment.reset(task)).toEqual({ ok: true, value: observation });
    const slow = guard({ ready, reset: () => new Promise<never>(() => undefined) });
    expect(await slow.environment.reset(task)).toMatchObject({
      failure: 'reset did not answer within 20 ms',
    });
    const never = guard({ ready: () => Promise.reject(new Error('no server is left')) });
    expect(await never.environment.reset(task)).toEqual({
      ok: false,
      failure: 'reset threw "no server is left"',
    });
  });

  it('resets no environment that was closed while it got ready', async () => {
    let numResets = 0;
    const { environment } = guard({
      ready: () => sleep(20),
      reset: () => {
        numResets += 1;
        return observation;
      },
    });
    const pending = environment.reset(task);
    environment.close();
    expect(await pending).toMatchObject({ ok: false });
    expect(numResets).toBe(0);
  });

  it('survives an environment that can be neither made nor closed', async () => {
    const create = (): Environment => {
      throw new Error('no licence');
    };
    const never = new GuardedEnvironment({ create }, limits);
    expect(never.reset(task)).toEqual({ ok: false, failure: 'reset threw "no licence"' });
    const { environment } = guard({ close: () => Promise.reject(new Error('stuck')) });
    await environment.reset(task);
    environment.close();
    await sleep(0);
  });

  it.each<[string, object, RegExp]>([
    ['no number', { reward: '1' }, /result\.reward is "1"; must be null or a finite number/],
    [
      'a value without a name',
      { rewardNames: [] },
      /rewardValues has 1 values; must have one for each of the 0/,
    ],
    ['no flag', { terminated: 1 }, /result\.terminated is 1; must be true or false/],
    ['no text', { observation: { ...observation, text: null } }, /observation\.text is null; must be text/],
    ['a function', { info: () => 1 }, /result\.info is a function; must be a JSON value/],
    [
      'a list for an outcome',
      { success: [] },
      /result\.success is a list of 0; must be null or true or false/,
    ],
    [
      'names of rewards that are too long together',
      { rewardNames: Array.from({ length: 20 }, () => 'x'.repeat(200_000)), rewardValues: Array(20).fill(1) },
      /its texts have \d+ characters; must have at most 1048576/,
    ],
  ])('refuses an answer with %s', async (_, change, failure) => {
    const { environment } = guard({ step: () => ({ ...result, ...change }) as StepResult });
    await environment.reset(task);
    const answer = await environment.step('go');
    expect(answer).toMatchObject({ ok: false });
    expect((answer as { failure: string }).failure).toMatch(failure);
  });
});

describe('an answer that can not be stored as it is', () => {
  const cut = `${'x'.repeat(131_058)}[… 2000002 bytes, cut …]${'x'.repeat(131_058)}`;

  it.each<[string, object, object, string]>([
    [
      'an infinite reward',
      { reward: Infinity },
      { reward: null },
      'reward: a number that is not finite was left out',
    ],
    [
      'infinite parts of a reward',
      { rewardValues: [-Infinity] },
      { rewardValues: [NaN] },
      'rewardValues[]: a number that is not finite was left out',
    ],
    [
      'half a character',
      { observation: { ...observation, text: 'cut \ud83d' } },
      { observation: { ...observation, text: 'cut \ufffd' } },
      'observation: half a character was replaced',
    ],
    [
      'a refused name',
      { info: JSON.parse('{"__proto__":1}') as object },
      { info: { '[__proto__]': 1 } },
      'info: a name was replaced',
    ],
    ['a huge object', { info: 'x'.repeat(2_000_000) }, {}, 'info: it was cut'],
    [
      'a huge observation',
      { observation: { ...observation, text: 'x'.repeat(2_000_002) } },
      { observation: { ...observation, text: cut } },
      'observation: it was cut',
    ],
  ])('is changed, and says so: %s', async (_, change, stored, said) => {
    const { environment } = guard({ step: () => ({ ...result, ...change }) as StepResult });
    await environment.reset(task);
    const answer = await environment.step('go');
    expect(answer).toMatchObject({ ok: true, value: stored, changes: [said] });
  });
});

describe('sampleTask', () => {
  const options = { split: 'train', index: 0, seed: 1 } as const;
  const sample = (answer: () => unknown, maxCharacters?: number) =>
    sampleTask({ sampleTask: answer as never }, options, { maxCharacters });

  it('gives the task and its seed, without other fields', () => {
    expect(sample(() => ({ task: { size: 4 }, seed: 7, hidden: 1 }))).toEqual({
      ok: true,
      value: { task: { size: 4 }, seed: 7 },
    });
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no tasks left');
      },
      'sampleTask threw "no tasks left"',
    ],
    [
      'answers nothing',
      () => undefined,
      'sampleTask gave an invalid answer: sampled is undefined; must be an object',
    ],
    [
      'answers by promise',
      () => Promise.resolve({ task: 1, seed: 1 }),
      'sampleTask gave an invalid answer: sampled.task',
    ],
    [
      'has half a seed',
      () => ({ task: 1, seed: 0.5 }),
      'sampleTask gave an invalid answer: sampled.seed is 0.5',
    ],
    [
      'has a huge task',
      () => ({ task: 'x'.repeat(99), seed: 1 }),
      'its texts have 101 characters; must have at most 50',
    ],
  ])('gives the reason where the environment %s', (_, answer, reason) => {
    const sampled = sample(answer, 50);
    expect(sampled.ok).toBe(false);
    expect((sampled as { failure: string }).failure).toContain(reason);
  });
});
