import { recipeHash, requestHash, resolveRecipe } from '@retrace/config';
import type { CheckpointFiles } from '@retrace/policy';
import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { completeInit, completeTeacher, requireNamedWeights } from './complete-init.js';

const FIRST = '01936d00-0000-7000-8000-00000000000a';
const SECOND = '01936d00-0000-7000-8000-00000000000b';
let state: ControlFold;

function append<K extends ControlEventKind>(runId: string, kind: K, payload: Partial<PayloadOf<K>>): void {
  const event = controlEvent({ logId: '', runId }, kind, payload);
  expect(state.apply(event as AnyEvent, state.nextOffset)).toEqual({ applied: true });
}

function publish(runId: string, policyVersion: number, digit: string): void {
  const weights = { sha256: digit.repeat(64), sizeBytes: 8 };
  const parentVersion = policyVersion === 0 ? null : policyVersion - 1;
  append(runId, 'PolicyPublished', { policyVersion, parentVersion, epoch: 0, weights });
}

function validate(runId: string, step: number, success: number): void {
  const values = Float64Array.of(success);
  append(runId, 'MetricsLogged', { source: 'evaluation', step, names: ['validation/success'], values });
}

beforeEach(() => {
  state = new ControlFold();
  for (const [runId, name] of [
    [FIRST, 'sft'],
    [SECOND, 'other'],
  ]) {
    append(runId, 'RunStarted', { name });
    append(runId, 'TrainerClaimed', { epoch: 0 });
  }
  for (const [version, digit] of ['a', 'b', 'c'].entries()) publish(FIRST, version, digit);
  validate(FIRST, 0, 0.1);
  validate(FIRST, 1, 0.9);
  validate(FIRST, 2, 0.5);
  append(FIRST, 'RunEnded', { reason: 'finished' });
});

const startingFrom = (initFrom: { readonly run: string; readonly version?: string }) =>
  resolveRecipe('bandit-ppo', { assignments: [`initFrom=${JSON.stringify(initFrom)}`] });

const sourceOf = (run: string, version?: string) =>
  completeInit(startingFrom({ run, version }), state).initFrom?.source;

describe('requireNamedWeights', () => {
  const listing = (...digits: readonly string[]) =>
    ({
      list: () => Promise.resolve(digits.map((digit) => ({ sha256: digit.repeat(64), sizeBytes: 8 }))),
    }) as unknown as CheckpointFiles;
  const recipe = startingFrom({ run: FIRST, version: '1' });

  it('takes a version whose weights are kept, and refuses another with the versions that are', async () => {
    const completed = completeInit(recipe, state);
    await requireNamedWeights(completed, state, listing('b'));
    await expect(requireNamedWeights(completed, state, listing('a', 'c'))).rejects.toMatchObject({
      code: 'POLICY_REMOVED',
      message: `policy 1 of run ${FIRST}: its weights are not kept; recipe field checkpoint.weights says which are: 0, 2`,
    });
  });

  it('asks for nothing where a recipe starts from no run', async () => {
    await requireNamedWeights(resolveRecipe('bandit-ppo'), state, listing());
  });
});

describe('completeInit', () => {
  it.each([
    [FIRST, undefined, 2, 'c'],
    ['0000000a', '0', 0, 'a'],
    ['sft', 'best', 1, 'b'],
    ['sft', undefined, 2, 'c'],
    // The newest run of all has published no policy.
    ['latest', undefined, 2, 'c'],
  ])('finds the policy of run %s, version %s', (run, version, policyVersion, digit) => {
    expect(sourceOf(run, version)).toEqual({
      runId: FIRST,
      policyVersion,
      sha256: digit.repeat(64),
      sizeBytes: 8,
    });
  });

  it.each([
    [
      'sft',
      '7',
      'policy 7 of run 01936d00-0000-7000-8000-00000000000a does not exist; the run has versions 0 … 2',
    ],
    ['nothing', undefined, 'run "nothing" not found'],
    [SECOND, undefined, `run "${SECOND}" not found`],
  ])('refuses run %s, version %s', (run, version, message) => {
    expect(() => sourceOf(run, version)).toThrow(message);
  });

  it('leaves a recipe as it is that starts from no run', () => {
    const recipe = resolveRecipe('bandit-ppo');
    expect(completeInit(recipe, state)).toBe(recipe);
  });
});

describe('completeTeacher', () => {
  const taught = (policy: object) =>
    resolveRecipe('distillation', {
      assignments: [`distillation.teacher.policy=${JSON.stringify(policy)}`],
    });

  it('names the weights of the teacher, which stay those of the request otherwise', async () => {
    const recipe = taught({ run: 'sft', version: 'best' });
    const completed = await completeTeacher(recipe, state);
    expect(completed.distillation?.teacher.policy).toEqual({
      ...{ run: 'sft', version: 'best' },
      source: { runId: FIRST, policyVersion: 1, sha256: 'b'.repeat(64), sizeBytes: 8 },
    });
    expect(requestHash(completed)).toBe(requestHash(recipe));
    expect(recipeHash(completed)).not.toBe(recipeHash(recipe));
  });

  it('refuses a run that goes on, whose weights are deleted while it does', async () => {
    publish(SECOND, 0, 'd');
    await expect(completeTeacher(taught({ run: 'other' }), state)).rejects.toMatchObject({
      code: 'RUN_ACTIVE',
      message: expect.stringContaining(`run ${SECOND} has not ended`) as string,
    });
  });

  it('leaves a recipe as it is that has no teacher', async () => {
    const recipe = resolveRecipe('bandit-ppo');
    expect(await completeTeacher(recipe, state)).toBe(recipe);
  });
});
