import { describe, expect, it } from 'vitest';
import type { StepRecorded } from '../events/episode-events.js';
import { EVENT_KINDS, SCHEMA_VERSIONS } from '../events/event-kinds.js';
import { sampleStep } from '../testing/index.js';
import { upcast, UPCASTERS, type UpcasterTable } from './upcast.js';

describe('upcast', () => {
  const table: UpcasterTable = {
    TrainerClaimed: [
      (payload) => ({ ...payload, host: '' }),
      ({ trainerId, ...rest }) => ({ ...rest, trainer: trainerId }),
    ],
  };

  it.each([
    [1, { trainerId: 'a' }, { trainer: 'a', host: '' }],
    [2, { trainerId: 'a', host: 'h' }, { trainer: 'a', host: 'h' }],
    [3, { trainer: 'a', host: 'h' }, { trainer: 'a', host: 'h' }],
  ])('lifts a payload of version %i step by step to the current one', (version, payload, expected) => {
    expect(upcast('TrainerClaimed', version, payload, table)).toEqual(expected);
  });

  it('leaves kinds that never changed as they are', () => {
    expect(upcast('RunEnded', 1, { detail: 'x' }, table)).toEqual({ detail: 'x' });
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

  it('has one upcaster for every version after the first', () => {
    for (const kind of EVENT_KINDS) {
      expect(UPCASTERS[kind]?.length ?? 0, kind).toBe(SCHEMA_VERSIONS[kind] - 1);
    }
  });
});
