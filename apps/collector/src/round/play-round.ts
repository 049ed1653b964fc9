import type { EpisodeLimits } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import type { PolicyText } from '@retrace/policy';
import type { EventLog } from '@retrace/log';
import type { ControlTail } from '@retrace/log';
import { markRoundStart } from '../episode/abandon-unfinished.js';
import type { Actor } from '../actors/actor.js';
import type { SlotContext } from '../episode/episode-slot.js';
import type { FailureStreak } from '../episode/failure-streak.js';
import type { BeginLoop } from '../loop/episode-loop.js';
import { EpisodeOrder } from './episode-order.js';
import { GroupCloser } from './group-closer.js';
import { maxAnswerCharacters } from '../episode/environment-answer.js';
import { createSlots, playEpisodes } from '../episode/play-episodes.js';
import { RoundMetrics } from './round-metrics.js';
import type { PlannedEpisode } from './round-plan.js';
import type { TrajectoryWriter } from '../writer/trajectory-writer.js';

/** Everything that is the same in all rounds of a run. */
export interface RoundSetting {
  readonly runId: string;
  /** Which of the run's collectors this is, from 0. */
  readonly shareIndex: number;
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
}

interface Round {
  readonly episodes: readonly PlannedEpisode[];
  readonly actor: Actor;
  /** Version of the policy that acts first; −1 where none of this run does. */
  readonly policyVersion: number;
  readonly idleSeconds: number;
  /** Called between turns; may swap the policy. */
  readonly beforeTurns?: () => Promise<void>;
}

/**
 * Plays one round, or a collector's part of a shared one, into the log. Closes its groups in one append once every episode event is
 * acknowledged, so the round is in the log completely or not at all. Returns null when interrupted; then nothing of it counts.
 */
export async function playRound(setting: RoundSetting, round: Round): Promise<RoundMetrics | null> {
  const { runId, shareIndex, log, control, writer, spec, text, signal } = setting;
  await markRoundStart(log, runId, shareIndex);
  const closer = new GroupCloser(new Set(round.episodes.map(({ group }) => group)), round.policyVersion);
  const order = new EpisodeOrder();
  const waitedBefore = writer.waitedSeconds;
  writer.takePeakSpoolBytes();
  const metrics = new RoundMetrics(round.idleSeconds);
  const context: SlotContext = {
    actor: round.actor,
    prompts: text.prompts,
    beginLoop: setting.beginLoop,
    limits: setting.limits,
    maxCharacters: maxAnswerCharacters(log.maxEventBytes),
    recorder: {
      runId,
      logId: log.logId,
      environment: spec.name,
      engine: setting.engine,
      model: setting.model,
      tokenizerHash: text.tokenizer.hash,
      nowUs,
    },
    emit: (event) => {
      order.check(event);
      writer.write(event);
    },
    ended: (summary) => {
      closer.add(summary);
      // Greedy baselines say nothing about how well the policy samples.
      if (!summary.plan.isGreedyBaseline) metrics.add(summary);
      setting.failures.add(summary.failure, summary.plan.group.round);
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
  const isAcknowledged = await writer.flush();
  metrics.logSeconds = writer.waitedSeconds - waitedBefore;
  metrics.spoolBytes = writer.takePeakSpoolBytes();
  if (!isAcknowledged || !closer.isComplete) return null;
  await control.append(runId, { kind: 'GroupsClosed', payload: closer.closings() });
  return metrics;
}

function nowUs(): number {
  return Date.now() * 1000;
}
