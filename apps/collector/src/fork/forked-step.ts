import { deriveSeed } from '@retrace/random';
import type { AnyEvent, EpisodeEnded, EpisodeStarted, Json, StepRecorded } from '@retrace/trajectory';
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
  readonly origin: EpisodeOrigin;
}

/** How the environment came to the first step of an episode: by its reset, or, of a fork, by the steps of the episodes that it was forked from. */
export interface EpisodeOrigin {
  /** Run whose environment is played. */
  readonly runId: string;
  /** Place in its group with which the environment was reset. */
  readonly member: number;
  /** Steps before the episode's first one, oldest first; empty for an episode that is no fork. */
  readonly steps: readonly StepRecorded[];
  /** Seeds from which the environment redrew its chance, by the number of steps before. */
  readonly chanceSeeds: ReadonlyMap<number, number>;
}

/** Names a step. */
export type StepName = Pick<ForkedStep, 'runId' | 'episodeId' | 'step'>;

/** Reads the events of an episode in order; none where there is no such episode. */
export type ReadEpisode = (episode: Pick<StepName, 'runId' | 'episodeId'>) => Promise<readonly AnyEvent[]>;

interface RecordedEpisode {
  readonly started: EpisodeStarted;
  readonly steps: readonly StepRecorded[];
  readonly ended: EpisodeEnded | null;
}

/**
 * Finds a step of a stored episode, and the steps of the episodes that it was forked from.
 *
 * @throws CollectorError `NO_FORK_POINT` for an unknown episode, a step that it does not have, or one of a run that was recorded from outside
 */
export async function readForkedStep(
  read: ReadEpisode,
  { runId, episodeId, step }: StepName,
): Promise<ForkedStep> {
  const episode = recordedEpisode(await read({ runId, episodeId }), { runId, episodeId });
  requireStep(episode, { runId, episodeId, step });
  return { runId, episodeId, step, ...episode, origin: await toOrigin(read, { runId, ...episode }) };
}

/** Seed of the environment's chance from the step on, for a fork that does not keep the chance of its episode. */
export function deriveChanceSeed(samplingSeed: number): number {
  return deriveSeed('fork', samplingSeed);
}

/** Sum of the rewards from the step on that are not missing; null when all are. */
export function returnFrom({ steps, step }: Pick<ForkedStep, 'steps' | 'step'>): number | null {
  const rewards = steps.slice(step).flatMap(({ reward }) => (reward === null ? [] : [reward]));
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0);
}

async function toOrigin(
  read: ReadEpisode,
  { runId, started }: Pick<RecordedEpisode, 'started'> & { readonly runId: string },
): Promise<EpisodeOrigin> {
  const { forkedFrom, forkedFromRunId, groupMember, samplingSeed, metadata } = started;
  if (forkedFrom === null) return { runId, member: groupMember, steps: [], chanceSeeds: new Map() };
  const parent = { runId: forkedFromRunId ?? runId, ...forkedFrom };
  const episode = recordedEpisode(await read(parent), parent);
  requireStep(episode, parent);
  const origin = await toOrigin(read, { runId: parent.runId, ...episode });
  const steps = [...origin.steps, ...episode.steps.slice(0, parent.step)];
  const chanceSeeds = new Map(origin.chanceSeeds);
  if (hasOwnChance(metadata) && samplingSeed !== null)
    chanceSeeds.set(steps.length, deriveChanceSeed(samplingSeed));
  return { ...origin, steps, chanceSeeds };
}

/** Whether a fork was played with `--chance own`, by the metadata that it started with. */
function hasOwnChance(metadata: Json): boolean {
  const { fork } = (metadata ?? {}) as { readonly fork?: { readonly chance?: unknown } };
  return fork?.chance === 'own';
}

function recordedEpisode(
  events: readonly AnyEvent[],
  key: Pick<StepName, 'runId' | 'episodeId'>,
): RecordedEpisode {
  let started: EpisodeStarted | null = null;
  let ended: EpisodeEnded | null = null;
  const steps: StepRecorded[] = [];
  for (const event of events) {
    if (event.kind === 'EpisodeStarted') started = event.payload;
    else if (event.kind === 'EpisodeEnded') ended = event.payload;
    else if (event.kind === 'StepRecorded' && event.payload.step === steps.length) steps.push(event.payload);
  }
  if (started === null) throw refusal(key, 'not found; an episode of the last seconds may not be stored yet');
  if (started.environment === '' || started.environmentSeed === null) {
    throw refusal(
      key,
      'was recorded from outside: its environment or its seed is unknown, so nothing can be played again',
    );
  }
  return { started, steps, ended };
}

function requireStep({ steps }: Pick<RecordedEpisode, 'steps'>, name: StepName): void {
  if (name.step < steps.length) return;
  const rule = `--step must be from 0 to ${steps.length - 1}, got ${name.step}`;
  throw refusal(name, `has ${steps.length} steps; ${rule}`);
}

function refusal({ runId, episodeId }: Pick<StepName, 'runId' | 'episodeId'>, what: string): CollectorError {
  return new CollectorError('NO_FORK_POINT', `Episode ${episodeId} of run ${runId} ${what}`);
}
