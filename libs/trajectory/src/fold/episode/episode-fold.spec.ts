import { describe, expect, it } from 'vitest';
import type { EpisodeEnded, StepRecorded } from '../../events/episode-events.js';
import type { AnyEvent } from '../../events/event.js';
import { newEpisodeEvent } from '../../ids/new-event.js';
import { sampleEpisodeEvent, sampleStep } from '../../testing/index.js';
import { EpisodeFold, type EpisodeState } from './episode-fold.js';
import { sealEpisode } from '../../testing/seal-episode.js';

const started = sampleEpisodeEvent('EpisodeStarted');
const { runId, episodeId } = started;

/** Three steps of 26 tokens, 2 of them sampled, that each keep the whole context; rewards missing, −0.5 and 1. */
const steps: readonly StepRecorded[] = [null, -0.5, 1].map((reward, step) => ({
  ...sampleStep({ step }),
  reward,
  keptPrefixTokens: step * 26,
  tokenPolicyVersions: new Int32Array(26).fill(3 + step),
}));

const ended = sealEpisode(steps, {
  endReason: 'truncated',
  success: false,
  finalObservation: 'end',
  finalTokenIds: Int32Array.of(1, 2),
  finalKeptPrefixTokens: 78,
});

function stepEvent(step: StepRecorded): AnyEvent {
  return sampleEpisodeEvent('StepRecorded', step, step.step + 1);
}

function endEvent(payload: EpisodeEnded): AnyEvent {
  return sampleEpisodeEvent('EpisodeEnded', payload, payload.numSteps + 1);
}

const whole: readonly AnyEvent[] = [started, ...steps.map(stepEvent), endEvent(ended)];

function fold(events: readonly AnyEvent[]): EpisodeState {
  const episode = new EpisodeFold({ runId, episodeId });
  events.forEach((event) => episode.apply(event));
  return episode.state();
}

function outcomes(events: readonly AnyEvent[]): string[] {
  const episode = new EpisodeFold({ runId, episodeId });
  return events.map((event) => episode.apply(event));
}

describe('sealEpisode', () => {
  it('adds up the steps and leaves missing rewards out of the return', () => {
    expect(ended).toMatchObject({
      numSteps: 3,
      return: 0.5,
      numTokens: 78,
      numActionTokens: 6,
      policyVersionMin: 3,
      policyVersionMax: 5,
      endDetail: '',
    });
  });

  it('has no return when every reward is missing, and version −1 when no policy of the run sampled', () => {
    const expert = { ...sampleStep(), tokenPolicyVersions: new Int32Array(26).fill(-1) };
    expect(sealEpisode([expert], ended)).toMatchObject({
      return: null,
      policyVersionMin: -1,
      policyVersionMax: -1,
    });
    expect(sealEpisode([], ended)).toMatchObject({ numSteps: 0, return: null, numTokens: 0 });
  });

  it('ranges over the versions of action tokens only', () => {
    const swapped = {
      ...sampleStep(),
      tokenPolicyVersions: Int32Array.from({ length: 26 }, (_, t) => (t < 25 ? 7 : 8)),
    };
    expect(sealEpisode([swapped], ended)).toMatchObject({ policyVersionMin: 7, policyVersionMax: 8 });
  });
});

describe('EpisodeFold', () => {
  it('seals an episode that has all of its events', () => {
    const state = fold(whole);
    expect(state).toMatchObject({ sealed: true, missingSteps: [], faults: [], ended });
    expect(state.totals).toEqual({
      numSteps: 3,
      return: 0.5,
      numTokens: 78,
      numActionTokens: 6,
      policyVersionMin: 3,
      policyVersionMax: 5,
    });
  });

  it('gives the same state whatever the order and however often events arrive', () => {
    expect(fold([...whole].reverse())).toEqual(fold(whole));
    expect(fold([...whole, ...whole])).toEqual(fold(whole));
  });

  it('counts a step with other latencies as the same step', () => {
    const again = stepEvent({ ...steps[1], generationMs: 99, environmentMs: 99 });
    expect(outcomes([...whole, { ...again, occurredAtUs: 1 }]).at(-1)).toBe('duplicate');
  });

  it('keeps the first of two events with one seq and reports the other as a conflict', () => {
    const other = stepEvent({ ...steps[1], action: 'left' });
    expect(outcomes([...whole, other])).toEqual([...whole.map(() => 'applied'), 'conflict']);
    expect(fold([...whole, other])).toEqual(fold(whole));
  });

  it('counts the places of reward events separately', () => {
    const reward = sampleEpisodeEvent('RewardAssigned', {}, 0);
    const events = [...whole, reward, sampleEpisodeEvent('RewardAssigned', { value: 0 }, 1)];
    expect(outcomes(events)).toEqual(events.map(() => 'applied'));
    expect(fold(events).rewards.map(({ value }) => value)).toEqual([0.75, 0]);
  });

  it('has the tags and metadata of the newest annotation that gave some, by time', () => {
    const annotation = (seq: number, occurredAtUs: number, payload: object) => ({
      ...sampleEpisodeEvent('EpisodeAnnotated', { tags: null, metadata: null, ...payload }, seq),
      occurredAtUs,
    });
    const { tags, metadata } = started.payload;
    expect(fold(whole)).toMatchObject({ tags, metadata });
    const annotations = [
      annotation(0, 300, { tags: ['b'] }),
      annotation(1, 200, { tags: ['late'], metadata: { n: 2 } }),
      annotation(2, 400, {}),
    ];
    expect(outcomes([...whole, ...annotations])).not.toContain('conflict');
    expect(fold([...annotations, ...whole])).toMatchObject({ tags: ['b'], metadata: { n: 2 }, sealed: true });
    const last = annotation(3, 300, { tags: [] });
    expect(fold([...whole, ...annotations, last])).toMatchObject({ tags: [] });
  });

  it('is not sealed while a step is missing, and names that step', () => {
    expect(fold(whole.filter((_, i) => i !== 2))).toMatchObject({
      sealed: false,
      missingSteps: [{ from: 1, end: 2 }],
      totals: { numSteps: 1 },
    });
    expect(fold([started, endEvent(ended)])).toMatchObject({
      sealed: false,
      missingSteps: [{ from: 0, end: 3 }],
    });
    expect(fold(whole.slice(1))).toMatchObject({ sealed: false, started: null });
    expect(fold(whole.slice(0, 4))).toMatchObject({ sealed: false, ended: null });
  });

  it('finds a seal that does not add up', () => {
    const { faults } = fold([
      started,
      ...steps.map(stepEvent),
      endEvent({ ...ended, return: 0.75, numTokens: 79 }),
    ]);
    expect(faults).toEqual([
      'the end states return 0.75; its steps add up to 0.5',
      'the end states numTokens 79; its steps add up to 78',
    ]);
  });

  it('finds steps after the end, a second end, and prompts that keep more than there was', () => {
    const [first, second, third] = steps.map(stepEvent);
    const early = endEvent({ ...sealEpisode(steps.slice(0, 2), ended), finalKeptPrefixTokens: 53 });
    const greedy = { ...steps[1], keptPrefixTokens: 27 };
    const tooEarly = endEvent({ ...sealEpisode(steps.slice(0, 1), ended), finalKeptPrefixTokens: 26 });
    // The end after one step has the seq of the second step, which so is refused as a conflict.
    const withEarlyEnd = [started, first, tooEarly, second, third];
    expect(outcomes(withEarlyEnd)).toEqual(['applied', 'applied', 'applied', 'conflict', 'applied']);
    expect(fold(withEarlyEnd).faults).toEqual(['1 steps come after the end, which states 1 steps']);
    expect(fold([...whole, sampleEpisodeEvent('EpisodeEnded', { ...ended, numSteps: 4 }, 5)]).faults).toEqual(
      ['it ends 2 times; the first end counts'],
    );
    expect(fold([started, first, stepEvent(greedy)]).faults).toEqual([
      'step 1 keeps 27 tokens of a context of 26',
    ]);
    expect(fold([started, first, second, early]).faults).toEqual([
      'the final observation keeps 53 tokens of a context of 52',
    ]);
  });

  it('refuses an event of another episode', () => {
    const other = newEpisodeEvent({ ...started, episodeId: '01936d00-0000-8000-8000-0000000000ff' });
    expect(() => new EpisodeFold({ runId, episodeId }).apply(other)).toThrow(
      /pass only events of that episode/,
    );
  });
});
