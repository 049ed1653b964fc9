import { describe, expect, it } from 'vitest';
import type { StepRecorded } from '../events/episode-events.js';
import { addedAfter } from '../events/event-fields.js';
import { sampleStep } from '../testing/index.js';
import { upcast } from './upcast.js';

describe('upcast', () => {
  const plan = { planId: 'p' };
  const withEngine = { ...plan, engine: null };
  const withPriorities = { ...withEngine, groupPriorities: null };

  it.each([
    [1, { ...withPriorities, episodeRewards: null }],
    [2, withPriorities],
    [3, withEngine],
    [4, plan],
  ])('gives an UpdateApplied of version %i the fields that were added since', (version, expected) => {
    expect(upcast('UpdateApplied', version, plan)).toEqual(expected);
  });

  it('leaves kinds that never changed as they are', () => {
    expect(upcast('RunEnded', 1, { detail: 'x' })).toEqual({ detail: 'x' });
  });

  it('shares the values of added fields between events, and nobody can change them', () => {
    const added = addedAfter('BatchPlanned', 1);
    expect(upcast('BatchPlanned', 1, plan).runIds).toBe(added.runIds);
    expect(addedAfter('BatchPlanned', 1)).toBe(added);
    expect(Object.isFrozen(added) && Object.isFrozen(added.runIds)).toBe(true);
    expect(addedAfter('BatchPlanned', 2)).toEqual({});
  });

  it.each([
    ['a step of the policy', sampleStep(), ''],
    ['a step without tokens', sampleStep({ numTokens: 0, numActionTokens: 0 }), 'no token ids'],
    ['a step whose sampling is unknown', { ...sampleStep(), sampling: null }, 'sampling parameters unknown'],
    ['a damaged step', { actionMask: 'x' }, ''],
  ])('says of %s of version 1 why it is untrainable', (_what, payload, untrainable) => {
    const { untrainable: _, messages: _m, usage: _u, ...before } = payload as Partial<StepRecorded>;
    expect(upcast('StepRecorded', 1, before)).toEqual({
      ...before,
      messages: null,
      usage: null,
      tokenRoutedExperts: null,
      untrainable,
    });
  });
});
