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
import { episodeIdFor, newControlEventId, newRunId } from '@retrace/trajectory';
import { CollectorError } from '../collector-error.js';
import { maxAnswerCharacters } from '../environment/environment-answer.js';
import { FailureStreak } from '../episode/failure-streak.js';
import { runStarted } from './play-tasks.js';
import type { Player } from './player.js';
import { playRound } from '../round/play-round.js';
import type { PlannedEpisode, PlannedGroup } from '../episode/planned-episode.js';
import { TrajectoryWriter } from '../writer/trajectory-writer.js';
import { forcedTurn } from '../fork/fork-context.js';
import { deriveChanceSeed, type ForkedStep } from '../fork/forked-step.js';
import { reachStep } from './reach-step.js';

const MAX_CONCURRENT_EPISODES = 256;

/** Who goes on from the step. */
export interface ForkPlayer extends Player {
  /** Whether its context has to be the one that the episode had, token by token. */
  readonly ownsEpisode: boolean;
}

export interface ForkEpisodesOptions {
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly spec: EnvironmentSpec;
  readonly point: ForkedStep;
  readonly player: ForkPlayer;
  readonly numForks: number;
  /** The first action; null lets the player choose it. */
  readonly action: string | null;
  readonly greedy: boolean;
  /** `own`: each fork has chance and sampling of its own from the step on, drawn from `seed`. `parent`: those that the episode had. */
  readonly chance: 'own' | 'parent';
  readonly seed: number;
  readonly trainable: boolean;
  readonly engine: string;
  readonly codeVersion: string;
  readonly signal: AbortSignal;
  readonly warn?: WarningLogOptions['show'];
}

export interface ForkResult {
  readonly runId: string;
  readonly groupId: string;
  /** Empty when it was interrupted: nothing of it counts then. */
  readonly episodeIds: readonly string[];
  /** In what the context at the step differs from the episode's; null where it is the same, token by token. */
  readonly contextDifference: string | null;
}

/**
 * Plays forks of a stored step, as a group in a run of its own. Each is an episode that begins at the step: the steps before it stay with the parent;
 * only the tokens of their context are repeated, in the first prompt.
 *
 * @throws CollectorError `REPLAY_DIFFERS`, `CONTEXT_DIFFERS`; nothing is written then
 */
export async function forkEpisodes(options: ForkEpisodesOptions): Promise<ForkResult> {
  const { log, control, spec, player, signal } = options;
  const runId = newRunId();
  const episodes = planForks(runId, options);
  const contextDifference = await tryFirst(episodes[0], options);
  await control.append(runId, { kind: 'RunStarted', payload: forkStarted(options) });
  const writer = await TrajectoryWriter.open(log, { signal });
  const warnings = new WarningLog({ control, runId, show: options.warn });
  const { limits } = player;
  const play = () =>
    playRound(
      {
        ...{ runId, control, writer, spec, limits, signal },
        cursor: collectorCursor(runId, 0),
        text: player.text,
        beginLoop: player.loops.begin,
        failures: new FailureStreak({ environment: spec.name, ...limits, warnings }),
        concurrentEpisodes: Math.min(options.numForks, MAX_CONCURRENT_EPISODES),
        engine: options.engine,
        model: player.description,
        log: new PatientLog(log, { signal }),
      },
      { episodes, actor: player.actor, policyVersion: -1, idleSeconds: 0 },
    );
  let played: Awaited<ReturnType<typeof play>>;
  try {
    played = await play();
  } finally {
    await warnings.flush();
  }
  await writer.close();
  await control.append(runId, {
    kind: 'RunEnded',
    payload: { reason: played ? 'finished' : 'stopped', detail: '', numUpdates: 0 },
  });
  const [{ group }] = episodes;
  const episodeIds = played ? episodes.map(({ episodeId }) => episodeId) : [];
  return { runId, groupId: group.groupId, episodeIds, contextDifference };
}

/** The forks, in order. With equal seeds the i-th fork of a step has the same chance whatever its first action and its policy. */
function planForks(runId: string, options: ForkEpisodesOptions): PlannedEpisode[] {
  const { point, player, numForks, action, greedy, chance, trainable } = options;
  const { started, episodeId, step } = point;
  const group: PlannedGroup = {
    groupId: newControlEventId(),
    place: 0,
    groupSize: numForks,
    round: 0,
    split: started.split,
    agent: player.agent,
    trainable,
    sampled: { task: started.task, seed: started.environmentSeed ?? 0 },
    failure: null,
  };
  // Refuses an action that the tokenizer can't encode, before anything is written.
  if (action !== null) forcedTurn(action, player);
  const description = { fork: { policy: player.description, greedy, forced: action !== null, chance } };
  return Array.from({ length: numForks }, (_, member) => {
    const own = placeSeed(`${options.seed}/${episodeId}/${step}/${member}`);
    return {
      episodeId: episodeIdFor({ runId, ordinal: member }),
      group,
      groupMember: member,
      samplingSeed: chance === 'own' ? own : (started.samplingSeed ?? own),
      isGreedyBaseline: greedy,
      fork: {
        point,
        speech: player,
        forcedAction: action,
        chanceSeed: chance === 'own' ? deriveChanceSeed(own) : null,
        description,
      },
    };
  });
}

/** Reaches the step once before anything is written. @throws CollectorError */
async function tryFirst(plan: PlannedEpisode, options: ForkEpisodesOptions): Promise<string | null> {
  const { log, spec, player, engine, point } = options;
  const { actor, text, loops, limits } = player;
  const difference = await reachStep({
    spec,
    plan,
    context: {
      actor,
      prompts: text.prompts,
      beginLoop: loops.begin,
      limits,
      maxCharacters: maxAnswerCharacters(log.maxEventBytes),
      recorder: {
        runId: point.runId,
        logId: log.logId,
        environment: spec.name,
        engine,
        model: player.description,
        tokenizerHash: text.tokenizer.hash,
        nowUs: () => 0,
      },
    },
  });
  if (difference === null || !player.ownsEpisode) return difference;
  throw new CollectorError(
    'CONTEXT_DIFFERS',
    `Step ${point.step} of episode ${point.episodeId} has another context now than when it was recorded: ${difference}`,
  );
}

function forkStarted({ spec, player, point, seed, codeVersion, ...options }: ForkEpisodesOptions) {
  const { numForks, action, greedy, chance } = options;
  const { runId: run, episodeId: episode, step } = point;
  const fork = { run, episode, step, policy: player.description, numForks, action, greedy, chance, seed };
  const name = `fork-${spec.name}-step-${step}`;
  return runStarted({
    ...{ spec, codeVersion },
    run: { name, seed, recipe: { environment: spec.name, fork }, tags: [] },
  });
}

/** 32 bits of SHA-256: independent streams for places that differ in anything. */
function placeSeed(place: string): number {
  return createHash('sha256').update(place).digest().readUInt32LE(0);
}
