import type { EnvironmentSpec } from '@retrace/environments';
import { EpisodeSlot, type SlotContext } from './episode-slot.js';
import type { PlannedEpisode } from '../round/round-plan.js';

export interface PlayOptions {
  readonly slots: readonly EpisodeSlot[];
  readonly context: SlotContext;
  readonly episodes: readonly PlannedEpisode[];
  readonly signal: AbortSignal;
  /** Called before each round of actions: hot swap of the policy, back-pressure. */
  readonly beforeTurns: () => Promise<void>;
  /** Called between actions every few milliseconds, so that recorded events are appended before the last action of a turn. */
  readonly betweenActs: () => Promise<void>;
  readonly onGenerationMs: (ms: number) => void;
}

/** Longest time in milliseconds that actions are taken before other work may use the thread. */
const ACTING_MS = 4;

/**
 * Plays the planned episodes, as many at once as there are slots; a slot whose episode ended takes the next one immediately.
 * Environments may answer directly or by promise; slow ones never delay the others. Stops early when `signal` aborts; the next
 * start abandons the episodes that did not end.
 */
export async function playEpisodes(options: PlayOptions): Promise<void> {
  const { slots, context, episodes, signal } = options;
  const waiting = new Set<Promise<void>>();
  let next = 0;

  const track = (work: void | Promise<void>, then: () => void): void => {
    if (!work) {
      then();
      return;
    }
    const promise = work.then(then).finally(() => waiting.delete(promise));
    waiting.add(promise);
  };
  const refill = (slot: EpisodeSlot): void => {
    if (!slot.isActive && next < episodes.length) track(slot.start(episodes[next++]), () => undefined);
  };

  /** Takes the items one by one, with pauses; without pauses after an abort, since an unavailable log would make each one long. */
  const forEach = async <T>(items: readonly T[], take: (item: T) => void): Promise<void> => {
    let sinceMs = performance.now();
    for (const item of items) {
      take(item);
      if (signal.aborted || performance.now() - sinceMs < ACTING_MS) continue;
      await options.betweenActs();
      sinceMs = performance.now();
    }
  };

  await forEach(slots, refill);
  while ((context.actor.numPending > 0 || waiting.size > 0) && !signal.aborted) {
    await options.beforeTurns();
    if (context.actor.numPending === 0) {
      await Promise.race(waiting);
      continue;
    }
    const started = performance.now();
    const finished = await context.actor.step();
    options.onGenerationMs(performance.now() - started);
    await forEach(finished, ({ slot, turn }) => {
      track(slots[slot].act(turn), () => {
        refill(slots[slot]);
      });
    });
  }
}

/** Creates slots, each with its own environment. */
export function createSlots(spec: EnvironmentSpec, numSlots: number, context: SlotContext): EpisodeSlot[] {
  return Array.from({ length: numSlots }, (_, slot) => new EpisodeSlot(slot, spec.create(), context));
}
