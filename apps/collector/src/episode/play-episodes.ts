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
  /** Called between actions every few milliseconds: what they recorded is on its way before the last of them are taken. */
  readonly betweenActs: () => Promise<void>;
  readonly onGenerationMs: (ms: number) => void;
}

/** How long actions are taken in a row before others may use the thread. */
const ACTING_MS = 4;

/**
 * Plays the planned episodes, as many at once as there are slots; a slot whose episode ended takes the next at once.
 * Environments may answer at once or by promise; slow ones never hold up the others. Stops early when `signal` aborts:
 * what was not ended is abandoned by the next start's recovery.
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

  /** One after the other, with pauses; without, once `signal` has aborted, because a log that is away makes each of them long. */
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

/** As many slots, each with an environment of its own, as the recipe lets run at once. */
export function createSlots(spec: EnvironmentSpec, numSlots: number, context: SlotContext): EpisodeSlot[] {
  return Array.from({ length: numSlots }, (_, slot) => new EpisodeSlot(slot, spec.create(), context));
}
