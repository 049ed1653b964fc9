import type { AnyEvent, EpisodeEnded, EpisodeStarted, StepRecorded } from '@retrace/trajectory';
import { CollectorError } from '../collector-error.js';

/** A step of a stored episode, with everything that was recorded before and after it. */
export interface ForkedStep {
  readonly runId: string;
  readonly episodeId: string;
  /** Forks act here: after the observation of this step, before its action. */
  readonly step: number;
  readonly started: EpisodeStarted;
  /** All steps of the episode. */
  readonly steps: readonly StepRecorded[];
  /** null while the episode goes on. */
  readonly ended: EpisodeEnded | null;
}

/**
 * Finds a step among the events of its episode, as `readEpisodeEvents` reads them.
 *
 * @throws CollectorError `NO_FORK_POINT` for an unknown episode, a step that it does not have, or one of a run that was recorded from outside
 */
export function forkedStepOf(
  events: readonly AnyEvent[],
  { runId, episodeId, step }: Pick<ForkedStep, 'runId' | 'episodeId' | 'step'>,
): ForkedStep {
  const name = `Episode ${episodeId} of run ${runId}`;
  const refuse = (message: string): never => {
    throw new CollectorError('NO_FORK_POINT', message);
  };
  let started: EpisodeStarted | null = null;
  let ended: EpisodeEnded | null = null;
  const steps: StepRecorded[] = [];
  for (const event of events) {
    if (event.kind === 'EpisodeStarted') started = event.payload;
    else if (event.kind === 'EpisodeEnded') ended = event.payload;
    else if (event.kind === 'StepRecorded' && event.payload.step === steps.length) steps.push(event.payload);
  }
  if (started === null)
    return refuse(`${name} not found; an episode of the last seconds may not be stored yet`);
  if (started.environment === '' || started.environmentSeed === null) {
    return refuse(
      `${name} was recorded from outside: its environment or its seed is unknown, so nothing can be played again`,
    );
  }
  if (started.forkedFrom !== null) {
    return refuse(
      `${name} is itself a fork, of step ${started.forkedFrom.step} of episode ${started.forkedFrom.episodeId}; fork that episode, or name another`,
    );
  }
  if (step >= steps.length)
    return refuse(
      `${name} has ${steps.length} steps; --step must be from 0 to ${steps.length - 1}, got ${step}`,
    );
  return { runId, episodeId, step, started, steps, ended };
}

/** Sum of the rewards from the step on that are not missing; null when all are. */
export function returnFrom({ steps, step }: Pick<ForkedStep, 'steps' | 'step'>): number | null {
  const rewards = steps.slice(step).flatMap(({ reward }) => (reward === null ? [] : [reward]));
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0);
}
