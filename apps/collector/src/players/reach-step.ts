import type { EnvironmentSpec } from '@retrace/environments';
import type { Actor, ActRequest } from '../turn/actor.js';
import { CollectorError } from '../collector-error.js';
import { EpisodeSlot, type SlotContext } from '../episode/episode-slot.js';
import type { PlannedEpisode } from '../episode/planned-episode.js';
import { contextDifference } from '../fork/fork-context.js';

interface ReachOptions {
  readonly spec: EnvironmentSpec;
  /** As the forks will be played. */
  readonly context: Omit<SlotContext, 'emit' | 'ended' | 'onEnvironmentMs'>;
  readonly plan: PlannedEpisode;
}

/**
 * Brings an environment to the step of a fork once, records nothing, and says in what the context there differs from the episode's; null where
 * it is the same, token by token.
 *
 * @throws CollectorError `REPLAY_DIFFERS` when the environment does not answer as it did
 */
export async function reachStep({ spec, context, plan }: ReachOptions): Promise<string | null> {
  const { fork } = plan;
  if (!fork) throw new TypeError('the plan is of no fork');
  const arrival = new ArrivalActor(context.actor);
  let failure: string | null = null;
  const slot = new EpisodeSlot(0, spec, {
    ...context,
    actor: arrival,
    emit: (event) => {
      if (event.kind === 'EpisodeEnded') failure = event.payload.endDetail;
    },
    ended: () => undefined,
    onEnvironmentMs: () => undefined,
  });
  await slot.start({ ...plan, fork: { ...fork, forcedAction: null } });
  slot.close();
  if (arrival.arrived === null) {
    const { episodeId, step } = fork.point;
    throw new CollectorError(
      'REPLAY_DIFFERS',
      `Episode ${episodeId} can’t be played again up to step ${step}: ${failure ?? 'it ended before'}`,
    );
  }
  return contextDifference(fork.point, arrival.arrived.prompt.tokenIds, fork.speech.text.tokenizer);
}

/** Takes the request that a fork makes when it has arrived at its step, and answers nothing. */
class ArrivalActor implements Actor {
  readonly isRemote = false;
  readonly sampling = null;
  readonly numPending = 0;
  arrived: ActRequest | null = null;

  constructor(private readonly actor: Pick<Actor, 'maxTokens'>) {}

  get maxTokens(): number {
    return this.actor.maxTokens;
  }

  request(request: ActRequest): void {
    this.arrived = request;
  }

  step(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  release(): void {
    // Holds nothing for a slot.
  }
}
