import type { AnyEvent } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { EpisodeOrder } from './episode-order.js';

const event = (kind: string, seq: number, episodeId = 'e'): AnyEvent =>
  ({ kind, seq, episodeId }) as AnyEvent;

describe('EpisodeOrder', () => {
  it('lets an episode pass, and rewards after its end; episodes do not mind one another', () => {
    const order = new EpisodeOrder();
    order.check(event('EpisodeStarted', 0));
    order.check(event('EpisodeStarted', 0, 'other'));
    order.check(event('StepRecorded', 1));
    order.check(event('EpisodeEnded', 2));
    order.check(event('RewardAssigned', 3));
    order.check(event('StepRecorded', 1, 'other'));
  });

  it.each([
    ['a gap', event('StepRecorded', 2), /StepRecorded.seq is 2.*must be 1/],
    ['a repeated seq', event('EpisodeStarted', 0), /EpisodeStarted.seq is 0.*must be 1/],
    ['a second start', event('EpisodeStarted', 1), /must be EpisodeStarted at seq 0 and nowhere else/],
    ['a step of an episode that was not started', event('StepRecorded', 0, 'new'), /EpisodeStarted at seq 0/],
  ])('refuses %s and goes on with what is right', (_, bad, message) => {
    const order = new EpisodeOrder();
    order.check(event('EpisodeStarted', 0));
    expect(() => {
      order.check(bad);
    }).toThrow(message);
    order.check(event('StepRecorded', 1));
  });

  it.each(['StepRecorded', 'EpisodeEnded'])('refuses %s after the end', (kind) => {
    const order = new EpisodeOrder();
    order.check(event('EpisodeStarted', 0));
    order.check(event('EpisodeEnded', 1));
    expect(() => {
      order.check(event(kind, 2));
    }).toThrow(/must be RewardAssigned once the episode has ended/);
  });
});
