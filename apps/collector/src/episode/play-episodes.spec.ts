import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EpisodeSlot, SlotContext } from './episode-slot.js';
import { playEpisodes } from './play-episodes.js';
import type { PlannedEpisode } from './planned-episode.js';

const NUM_SLOTS = 12;

/** Episodes of one action that takes longer than actions may in a row, all finished in one turn. */
function setUp(onAct: (slot: number) => void) {
  const pending: number[] = [];
  const slots = Array.from({ length: NUM_SLOTS }, (_, slot) => ({
    isActive: false,
    start: () => void pending.push(slot),
    act: () => {
      const until = performance.now() + 5;
      while (performance.now() < until);
      onAct(slot);
    },
  }));
  const actor = {
    get numPending() {
      return pending.length;
    },
    step: () => Promise.resolve(pending.splice(0).map((slot) => ({ slot, turn: {} }))),
  };
  return {
    slots: slots as unknown as EpisodeSlot[],
    context: { actor } as unknown as SlotContext,
    episodes: Array.from({ length: NUM_SLOTS }, () => ({})) as unknown as PlannedEpisode[],
    beforeTurns: () => Promise.resolve(),
    onGenerationMs: () => undefined,
  };
}

describe('playEpisodes', () => {
  it('lets others use the thread while many actions are taken', async () => {
    let numPauses = 0;
    const acted: number[] = [];
    await playEpisodes({
      ...setUp((slot) => acted.push(slot)),
      signal: new AbortController().signal,
      betweenActs: async () => {
        numPauses++;
        await setImmediate();
      },
    });
    expect(acted).toHaveLength(NUM_SLOTS);
    expect(numPauses).toBeGreaterThanOrEqual(NUM_SLOTS);
  });

  it('pauses no more once it is asked to stop, when each pause may be long', async () => {
    const stop = new AbortController();
    let numPausesAfterStop = 0;
    await playEpisodes({
      ...setUp((slot) => {
        if (slot === 3) stop.abort();
      }),
      signal: stop.signal,
      betweenActs: () => {
        if (stop.signal.aborted) numPausesAfterStop++;
        return Promise.resolve();
      },
    });
    expect(numPausesAfterStop).toBe(0);
  });

  it('takes no action of a request that was cancelled by the stop', async () => {
    const stop = new AbortController();
    const acted: number[] = [];
    const { context, ...options } = setUp((slot) => acted.push(slot));
    const { actor } = context;
    const cancelled = {
      get numPending() {
        return actor.numPending;
      },
      step: async () => {
        const finished = await actor.step();
        stop.abort();
        return finished.map(({ slot }) => ({ slot, failure: { of: 'model', reason: 'aborted' } }));
      },
    };
    await playEpisodes({
      ...options,
      context: { actor: cancelled } as unknown as SlotContext,
      signal: stop.signal,
      betweenActs: () => Promise.resolve(),
    });
    expect(acted).toEqual([]);
  });
});
