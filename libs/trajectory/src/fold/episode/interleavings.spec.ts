import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyStep } from '../../testing/any-step.js';
import type { EpisodeEnded, StepRecorded } from '../../events/episode-events.js';
import type { AnyEvent } from '../../events/event.js';
import { episodeIdFor } from '../../ids/ids.js';
import { episodeEvent, episodeEvents } from '../../testing/episode-events.js';
import { sampleEpisodeEvent } from '../../testing/sample-events.js';
import { EpisodeFold, type EpisodeState } from './episode-fold.js';

const { logId, runId, occurredAtUs } = sampleEpisodeEvent('EpisodeStarted');

interface Episode {
  readonly episodeId: string;
  readonly steps: readonly StepRecorded[];
  readonly events: readonly AnyEvent[];
  readonly ended: EpisodeEnded;
}

/** A whole episode, and rewards after it. Its totals are added up here, by plain arithmetic and not by the code under test. */
const anyEpisode = (ordinal: number): fc.Arbitrary<Episode> =>
  fc
    .tuple(
      fc
        .nat(5)
        .chain((numSteps) => fc.tuple(...Array.from({ length: numSteps }, (_, step) => anyStep(step)))),
      fc.array(fc.option(fc.integer({ min: -1000, max: 1000 })), { minLength: 5, maxLength: 5 }),
      fc.nat(3),
    )
    .map(([drawn, rewards, numRewards]) => {
      // Whole numbers, so that their sum is the same in whatever order.
      const steps = drawn.map((step, i): StepRecorded => ({
        ...step,
        reward: rewards[i],
        keptPrefixTokens: 0,
      }));
      const rewarded = steps.flatMap(({ reward }) => (reward === null ? [] : [reward]));
      const versions = steps.flatMap(({ actionMask, tokenPolicyVersions }) =>
        [...tokenPolicyVersions].filter((_, t) => actionMask[t] === 1),
      );
      const ended: EpisodeEnded = {
        endReason: 'terminated',
        endDetail: '',
        finalObservation: 'the end',
        finalTokenIds: new Int32Array(0),
        finalKeptPrefixTokens: 0,
        numSteps: steps.length,
        return: rewarded.length === 0 ? null : rewarded.reduce((sum, reward) => sum + reward, 0),
        success: null,
        numTokens: steps.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
        numActionTokens: versions.length,
        policyVersionMin: versions.length === 0 ? -1 : Math.min(...versions),
        policyVersionMax: versions.length === 0 ? -1 : Math.max(...versions),
      };
      const episodeId = episodeIdFor({ runId, ordinal });
      const ids = { logId, runId, episodeId, occurredAtUs };
      const events = [
        ...episodeEvents({ logId, runId, ordinal, steps, ended, occurredAtUs }),
        ...Array.from({ length: numRewards }, (_, seq) =>
          episodeEvent(ids, 'RewardAssigned', seq, { value: seq }),
        ),
      ] as AnyEvent[];
      return { episodeId, steps, events, ended };
    });

/** Several episodes, and their events in any order, some of them more than once. */
const anyArrival = fc.tuple(...[0, 1, 2].map(anyEpisode)).chain((episodes) => {
  const events = episodes.flatMap((episode) => episode.events);
  const again = fc.subarray(events);
  const inAnyOrder = again.chain((repeated) => {
    const all = [...events, ...repeated];
    return fc.shuffledSubarray(all, { minLength: all.length });
  });
  return inAnyOrder.map((arriving) => ({ episodes, arriving }));
});

function foldAll(events: readonly AnyEvent[]): Map<string, EpisodeState> {
  const folds = new Map<string, EpisodeFold>();
  for (const event of events) {
    const fold = folds.get(event.episodeId) ?? new EpisodeFold(event);
    folds.set(event.episodeId, fold);
    expect(fold.apply(event)).not.toBe('conflict');
  }
  return new Map([...folds].map(([episodeId, fold]) => [episodeId, fold.state()]));
}

it('any interleaving of valid events, repeated or not, folds to the same sealed episodes', () => {
  fc.assert(
    fc.property(anyArrival, ({ episodes, arriving }) => {
      const states = foldAll(arriving);
      expect(states.size).toBe(episodes.length);
      for (const { episodeId, ended, events } of episodes) {
        const { numSteps, numTokens, numActionTokens, policyVersionMin, policyVersionMax } = ended;
        const state = states.get(episodeId)!;
        expect(state).toMatchObject({ sealed: true, missingSteps: [], faults: [], ended });
        expect(state.totals).toEqual({
          numSteps,
          numTokens,
          numActionTokens,
          policyVersionMin,
          policyVersionMax,
          return: ended.return,
        });
        const values = state.rewards.map(({ value }) => value).sort();
        expect(values).toEqual(events.filter(({ kind }) => kind === 'RewardAssigned').map((_, seq) => seq));
      }
    }),
    { numRuns: 200 },
  );
});

it('a prefix of any arrival seals no episode that lacks an event, and names every step that is missing', () => {
  fc.assert(
    fc.property(anyArrival, fc.nat(), ({ episodes, arriving }, cut) => {
      const some = arriving.slice(0, cut % arriving.length);
      const states = foldAll(some);
      for (const { episodeId, steps } of episodes) {
        const state = states.get(episodeId);
        if (state === undefined) continue;
        const mine = some.filter((event) => event.episodeId === episodeId);
        const there = new Set(mine.flatMap(({ kind, seq }) => (kind === 'StepRecorded' ? [seq - 1] : [])));
        const has = (kind: AnyEvent['kind']) => mine.some((event) => event.kind === kind);
        expect(state.sealed).toBe(
          has('EpisodeStarted') && has('EpisodeEnded') && there.size === steps.length,
        );
        const highest = has('EpisodeEnded') ? steps.length : Math.max(-1, ...there) + 1;
        const missing = Array.from({ length: highest }, (_, step) => step).filter((step) => !there.has(step));
        const named = state.missingSteps.flatMap(({ from, end }) =>
          Array.from({ length: end - from }, (_, i) => from + i),
        );
        expect(named).toEqual(missing);
      }
    }),
    { numRuns: 200 },
  );
});
