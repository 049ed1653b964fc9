import { nowUs } from '@retrace/trajectory';
import type { EpisodeLimits } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import type { PolicyText } from '@retrace/policy';
import {
  roundStarts,
  trajectoryEnds,
  type ControlEntry,
  type ControlTail,
  type EventLog,
} from '@retrace/log';
import type { Actor } from '../turn/actor.js';
import type { EndedEpisode } from '../episode/episode-recorder.js';
import type { SlotContext } from '../episode/episode-slot.js';
import type { FailureStreak } from '../episode/failure-streak.js';
import type { BeginLoop } from '../loop/episode-loop.js';
import { EpisodeOrder } from './episode-order.js';
import { GroupCloser } from './group-closer.js';
import { maxAnswerCharacters } from '../environment/environment-answer.js';
import { createSlots, playEpisodes } from '../episode/play-episodes.js';
import { RoundMetrics } from './round-metrics.js';
import type { PlannedEpisode } from '../episode/planned-episode.js';
import type { TrajectoryWriter } from '../writer/trajectory-writer.js';

/** Everything that is the same in all rounds of a run. */
export interface RoundSetting {
  readonly runId: string;
  /** Name of the cursor (`collectorCursor`, `validatorCursor`) that remembers where the trajectories of the round begin. */
  readonly cursor: string;
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly writer: TrajectoryWriter;
  readonly spec: EnvironmentSpec;
  readonly text: PolicyText;
  readonly beginLoop: BeginLoop;
  readonly limits: EpisodeLimits;
  /** Counts over all rounds. */
  readonly failures: FailureStreak;
  readonly concurrentEpisodes: number;
  /** Names of engine and model, recorded with each step. */
  readonly engine: string;
  readonly model: string;
  readonly signal: AbortSignal;
  /** Called for every episode that ends. */
  readonly onEpisodeEnded?: (episode: EndedEpisode) => void;
}

interface Round {
  readonly episodes: readonly PlannedEpisode[];
  readonly actor: Actor;
  /** Version of the policy that acts first; −1 where none of this run does. */
  readonly policyVersion: number;
  readonly idleSeconds: number;
  /** Called between turns; may swap the policy. */
  readonly beforeTurns?: () => Promise<void>;
  /** Aborts when the events of the round that were held back are dropped. */
  readonly dropped?: AbortSignal;
  /** Called when all episodes have ended, for the events that enter the log with those that close the groups. */
  readonly told?: (played: PlayedRound) => readonly ControlEntry[] | Promise<readonly ControlEntry[]>;
}

export interface PlayedRound {
  readonly metrics: RoundMetrics;
  /** In the order in which they ended. */
  readonly episodes: readonly EndedEpisode[];
}

/**
 * Plays one round, or a collector's part of a shared one, into the log, and closes its groups in one append behind all its events, so the round is
 * in the log completely or not at all. Returns null when interrupted or dropped; then nothing of it counts.
 */
export async function playRound(setting: RoundSetting, round: Round): Promise<PlayedRound | null> {
  const { log, writer, spec, text } = setting;
  const signal = round.dropped ? AbortSignal.any([setting.signal, round.dropped]) : setting.signal;
  const ends = await trajectoryEnds(log);
  const closer = new GroupCloser(new Set(round.episodes.map(({ group }) => group)), round.policyVersion);
  const order = new EpisodeOrder();
  const metrics = new RoundMetrics(round.idleSeconds);
  const ended: EndedEpisode[] = [];
  const context: SlotContext = {
    actor: round.actor,
    prompts: text.prompts,
    beginLoop: setting.beginLoop,
    limits: setting.limits,
    maxCharacters: maxAnswerCharacters(log.maxEventBytes),
    recorder: makeRecorder(setting),
    emit: (event) => {
      order.check(event);
      writer.write(event);
    },
    ended: (summary) => {
      closer.add(summary);
      ended.push(summary);
      // Greedy baselines say nothing about how well the policy samples.
      if (!summary.plan.isGreedyBaseline) metrics.add(summary);
      setting.failures.add(summary.failure, summary.plan.group.round);
      setting.onEpisodeEnded?.(summary);
    },
    onEnvironmentMs: (ms) => void (metrics.environmentMs += ms),
  };
  const numSlots = Math.min(setting.concurrentEpisodes, round.episodes.length, spec.maxInstances ?? Infinity);
  const slots = createSlots(spec, numSlots, context);
  await playEpisodes({
    slots,
    context,
    episodes: round.episodes,
    signal,
    onGenerationMs: (ms) => {
      metrics.generationMs += ms;
    },
    beforeTurns: async () => {
      await writer.betweenTurns();
      await round.beforeTurns?.();
    },
    betweenActs: () => writer.betweenTurns(),
  }).finally(() => {
    for (const slot of slots) slot.close();
  });
  if (closer.isComplete) return close(setting, { ends, closer, metrics, episodes: ended }, round.told);
  await writer.flush();
  return null;
}

interface EndedRound extends PlayedRound {
  /** Of the trajectories, before the round. */
  readonly ends: readonly number[];
  readonly closer: GroupCloser;
}

/** Appends the events that close a round, and where it began, behind all others of it: in one append where the log takes it at once. */
async function close(
  { runId, log, control, writer, cursor }: RoundSetting,
  { ends, closer, metrics, episodes }: EndedRound,
  told: Round['told'],
): Promise<PlayedRound | null> {
  if (!(await writer.decided())) return null;
  metrics.logSeconds = writer.takeWaitedSeconds();
  metrics.heldSeconds = writer.takeHeldSeconds();
  metrics.spoolBytes = writer.takePeakSpoolBytes();
  const played = { metrics, episodes };
  const closed = { kind: 'GroupsClosed', payload: closer.closings() } as const;
  const records = control.encode(runId, [closed, ...((await told?.(played)) ?? [])]);
  const last = { stream: 'control', partition: 0, records } as const;
  const cursors = roundStarts(cursor, ends);
  if (await control.inTurn(() => writer.appendWith(last, cursors))) return played;
  if (!(await writer.flush())) return null;
  await control.inTurn(() => log.appendInStages([[last]], cursors));
  return played;
}

function makeRecorder({ runId, log, spec, engine, model, text }: RoundSetting): SlotContext['recorder'] {
  const tokenizerHash = text.tokenizer.hash;
  return { runId, logId: log.logId, environment: spec.name, engine, model, tokenizerHash, nowUs };
}
