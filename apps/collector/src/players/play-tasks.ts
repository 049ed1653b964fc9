import { createHash } from 'node:crypto';
import type { EnvironmentSpec } from '@retrace/environments';
import {
  collectorCursor,
  PatientLog,
  WarningLog,
  type ControlTail,
  type EventLog,
  type WarningLogOptions,
} from '@retrace/log';
import { newRunId, type Json, type Split } from '@retrace/trajectory';
import { maxAnswerCharacters } from '../environment/environment-answer.js';
import { FailureStreak } from '../episode/failure-streak.js';
import { playRound } from '../round/play-round.js';
import type { RoundMetrics } from '../round/round-metrics.js';
import { planRound } from '../round/round-plan.js';
import { type PlannedEpisode } from '../episode/planned-episode.js';
import { TrajectoryWriter } from '../writer/trajectory-writer.js';
import type { Player } from './player.js';

/** The first tasks of a split, as a seed draws them. */
export interface TaskSelection {
  readonly split: Split;
  readonly seed: number;
  readonly numTasks: number;
  /** Episodes of each task, which share its environment seed and are sampled independently. */
  readonly numAttempts: number;
}

export interface PlayTasksOptions {
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly spec: EnvironmentSpec;
  readonly player: Player;
  /** Played one after the other. */
  readonly selections: readonly TaskSelection[];
  readonly maxConcurrent: number;
  /** Start of the run that records the episodes. */
  readonly run: {
    readonly name: string;
    readonly seed: number;
    readonly recipe: Json;
    readonly tags: readonly string[];
  };
  /** Whether an episode was played before, by an earlier run of the same tasks (default: none was). */
  readonly isEnded?: (episode: PlannedEpisode, selection: TaskSelection) => boolean;
  /** Whether the run fails if all its episodes fail (default: such a run ends with figures, too). */
  readonly requiresEpisodes?: boolean;
  /** Metadata of each episode (default: none). */
  readonly describe?: (episode: PlannedEpisode, selection: TaskSelection) => Json;
  readonly engine: string;
  readonly codeVersion: string;
  readonly signal: AbortSignal;
  /** Shows the warnings, which are events of the run too. */
  readonly warn?: WarningLogOptions['show'];
}

export interface PlayedTasks {
  readonly runId: string;
  /** Figures of each selection, in order; fewer when it was interrupted. One that had ended before has none. */
  readonly metrics: readonly (RoundMetrics | null)[];
}

/**
 * Plays tasks of one environment outside any training run, as a run of its own. When interrupted, the run is recorded as stopped, with the
 * episodes that had ended.
 *
 * @throws CollectorError `ENVIRONMENT_FAILED`, `MODEL_FAILED`, `AGENT_FAILED`; the run is recorded as failed
 */
export async function playTasks(options: PlayTasksOptions): Promise<PlayedTasks> {
  const { control, log, selections, signal } = options;
  const runId = newRunId();
  await control.append(runId, { kind: 'RunStarted', payload: runStarted(options) });
  const writer = await TrajectoryWriter.open(log, { signal });
  let metrics: (RoundMetrics | null)[] | null = null;
  let detail = '';
  try {
    metrics = await playAll(runId, writer, options);
  } catch (error) {
    detail = (error as Error).message;
    throw error;
  } finally {
    await writer.close();
    const isFinished = metrics?.length === selections.length;
    const reason = metrics === null ? 'failed' : isFinished ? 'finished' : 'stopped';
    await control.append(runId, { kind: 'RunEnded', payload: { reason, detail, numUpdates: 0 } });
  }
  return { runId, metrics };
}

async function playAll(
  runId: string,
  writer: TrajectoryWriter,
  options: PlayTasksOptions,
): Promise<(RoundMetrics | null)[]> {
  const { control, log, spec, player, selections, signal } = options;
  const warnings = new WarningLog({ control, runId, show: options.warn });
  const { limits } = player;
  const setting = {
    ...{ runId, control, writer, spec, limits, signal },
    cursor: collectorCursor(runId, 0),
    text: player.text,
    beginLoop: player.loops.begin,
    failures: new FailureStreak({ environment: spec.name, ...limits, warnings }),
    concurrentEpisodes: options.maxConcurrent,
    engine: player.server ?? options.engine,
    model: player.description,
    log: new PatientLog(log, { signal }),
  };
  const played: (RoundMetrics | null)[] = [];
  let firstOrdinal = 0;
  try {
    for (const [round, selection] of selections.entries()) {
      const episodes = plan(options, selection, { runId, round, firstOrdinal });
      firstOrdinal += episodes.length;
      if (episodes.length === 0) {
        played.push(null);
        continue;
      }
      const one = { episodes, actor: player.actor, policyVersion: -1, idleSeconds: 0 };
      const ended = await playRound(setting, one);
      if (ended === null) break;
      played.push(ended.metrics);
    }
    if (options.requiresEpisodes && !signal.aborted) setting.failures.requireEpisodes();
  } finally {
    await warnings.flush();
  }
  return played;
}

/** The episodes of a selection that no earlier run has ended, with the seeds that they have among all. */
function plan(
  { spec, player, log, describe, isEnded }: PlayTasksOptions,
  selection: TaskSelection,
  at: { readonly runId: string; readonly round: number; readonly firstOrdinal: number },
): PlannedEpisode[] {
  const { split, seed, numTasks, numAttempts } = selection;
  const episodes = planRound({
    ...{ ...at, seed, spec, split },
    agent: player.agent,
    trainable: false,
    numGroups: numTasks,
    groupSize: numAttempts,
    firstTask: 0,
    maxCharacters: maxAnswerCharacters(log.maxEventBytes),
  });
  const described =
    describe === undefined
      ? episodes
      : episodes.map((episode) => ({ ...episode, metadata: describe(episode, selection) }));
  if (isEnded === undefined) return described;
  return regrouped(described.filter((episode) => !isEnded(episode, selection)));
}

/** Sets the size of each group to the number of episodes that are left in it. */
function regrouped(episodes: readonly PlannedEpisode[]): PlannedEpisode[] {
  const members = new Map<string, PlannedEpisode[]>();
  for (const episode of episodes) {
    const { groupId } = episode.group;
    members.set(groupId, [...(members.get(groupId) ?? []), episode]);
  }
  return [...members.values()].flatMap((all) => {
    const group = { ...all[0].group, groupSize: all.length };
    return all.map((episode, groupMember) => ({ ...episode, group, groupMember }));
  });
}

/** The start of a run that is not trained. Its `recipe` is what was asked for, and has a hash of its own. */
export function runStarted({
  run,
  spec,
  codeVersion,
}: Pick<PlayTasksOptions, 'run' | 'spec' | 'codeVersion'>) {
  const { recipe } = run;
  return {
    ...run,
    runKind: 'trained' as const,
    recipeHash: createHash('sha256').update(JSON.stringify(recipe)).digest('hex'),
    environment: spec.name,
    codeVersion,
    baselines: [],
    metadata: null,
  };
}
