import { MADE_STORABLE } from '@retrace/client';
import type { StepResult } from '@retrace/environments';
import {
  findUntrainableReason,
  newEpisodeEvent,
  episodeTotals,
  stepTotals,
  type EndReason,
  type EpisodeTotals,
  type EpisodeEventKind,
  type Json,
  type PayloadOf,
  type RetraceEvent,
  type SamplingParameters,
  type StepTotals,
} from '@retrace/trajectory';
import type { PlannedEpisode } from './planned-episode.js';
import type { EpisodeFailure, Prompt, Turn } from '../turn/turn.js';
import { RecordedConversation, type ShownPrompt, type StoredMessages } from './recorded-conversation.js';

export interface RecorderContext {
  readonly runId: string;
  readonly logId: string;
  readonly environment: string;
  readonly engine: string;
  readonly model: string;
  readonly tokenizerHash: string;
  readonly nowUs: () => number;
}

/** How an episode ends. */
export interface EpisodeOutcome {
  readonly endReason: EndReason;
  readonly endDetail: string;
  readonly final: Prompt;
  /** null = unknown. */
  readonly success: boolean | null;
  /** The part that failed, and why; null when none did. */
  readonly failure: EpisodeFailure | null;
}

/** An ended episode, as groups and metrics read it. */
export interface EndedEpisode extends EpisodeTotals {
  readonly plan: PlannedEpisode;
  readonly endReason: EndReason;
  readonly success: boolean | null;
  readonly numInvalidActions: number;
  /** Kind of the task as the environment told it while it played; null where it did not. */
  readonly taskFamily: string | null;
  /** The part that failed, and why; null when none did. */
  readonly failure: EpisodeFailure | null;
}

interface StepOptions extends ShownPrompt {
  readonly prompt: Prompt;
  readonly turn: Turn;
  readonly result: StepResult;
  readonly sampling: SamplingParameters | null;
  readonly environmentMs: number;
  /** False stores the turn's tokens as part of the prompt. */
  readonly isTrained: boolean;
  /** Changes that the environment's answers needed to be stored, in words. */
  readonly changes: readonly string[];
}

/** Makes the events of one episode, in order, and sums up its steps for the event that seals it. */
export class EpisodeRecorder {
  private seq = 0;
  private readonly steps: StepTotals[] = [];
  private readonly conversation = new RecordedConversation();
  private numInvalidActions = 0;
  private taskFamily: string | null = null;

  constructor(
    private readonly context: RecorderContext,
    private readonly plan: PlannedEpisode,
  ) {}

  started(): RetraceEvent<'EpisodeStarted'> {
    const { group, groupMember, samplingSeed, fork, metadata } = this.plan;
    return this.event('EpisodeStarted', {
      groupId: group.groupId,
      groupSize: group.groupSize,
      groupMember,
      environment: this.context.environment,
      task: group.sampled.task,
      environmentSeed: group.sampled.seed,
      samplingSeed,
      split: group.split,
      agent: group.agent,
      forkedFrom: fork ? { episodeId: fork.point.episodeId, step: fork.point.step } : null,
      forkedFromRunId: fork?.point.runId ?? null,
      externalId: '',
      tags: [],
      metadata: fork?.description ?? metadata ?? null,
      parentEpisodeId: null,
    });
  }

  step({ turn, result, sampling, environmentMs, isTrained, changes, ...shown }: StepOptions) {
    const { prompt } = shown;
    const { messages, marks } = this.conversation.store(shown, turn);
    const columns = joinTokens(prompt.tokenIds, isTrained ? turn : untrained(turn), isTrained);
    const { actionMask, tokenLogprobs } = columns;
    const { logprobMode } = turn;
    if (!result.actionValid) this.numInvalidActions++;
    this.taskFamily ??= toldFamily(result.info);
    const event = this.event('StepRecorded', {
      step: this.steps.length,
      observation: prompt.observation.text,
      action: turn.action,
      parsedAction: result.parsedAction,
      actionValid: result.actionValid,
      anchor: prompt.observation.anchor,
      reward: result.reward,
      rewardNames: result.rewardNames,
      rewardValues: new Float64Array(result.rewardValues),
      terminated: result.terminated,
      truncated: result.truncated,
      info: withMarks(result.info, marks),
      // Each field by its name, because an object that is spread into another one grows field by field, which is slower.
      tokenIds: columns.tokenIds,
      actionMask,
      tokenLogprobs,
      tokenRawLogprobs: columns.tokenRawLogprobs,
      tokenEntropies: columns.tokenEntropies,
      tokenPolicyVersions: columns.tokenPolicyVersions,
      tokenRoutedExperts: null,
      keptPrefixTokens: prompt.keptPrefixTokens,
      sampling,
      engine: this.context.engine,
      model: this.context.model,
      tokenizerHash: this.context.tokenizerHash,
      logprobMode,
      generationMs: turn.generationMs,
      environmentMs,
      snapshot: null,
      messages,
      usage: turn.usage ?? null,
      untrainable: withChanges(
        turn.untrainable ?? findUntrainableReason({ actionMask, tokenLogprobs, sampling, logprobMode }),
        changes,
      ),
    });
    this.steps.push(stepTotals(event.payload));
    return event;
  }

  ended({ endReason, endDetail, final, success, failure }: EpisodeOutcome) {
    const totals = episodeTotals(this.steps);
    const event = this.event('EpisodeEnded', {
      endReason,
      endDetail,
      finalObservation: final.observation.text,
      finalTokenIds: final.tokenIds,
      finalKeptPrefixTokens: final.keptPrefixTokens,
      success,
      ...totals,
    });
    const { plan, numInvalidActions, taskFamily } = this;
    const outcome = { endReason, success, numInvalidActions, taskFamily, failure };
    const summary: EndedEpisode = { ...totals, plan, ...outcome };
    return { event, summary };
  }

  private event<K extends EpisodeEventKind>(kind: K, payload: PayloadOf<K>): RetraceEvent<K> {
    const { runId, logId, nowUs } = this.context;
    return newEpisodeEvent({
      kind,
      logId,
      runId,
      episodeId: this.plan.episodeId,
      seq: this.seq++,
      occurredAtUs: nowUs(),
      payload,
    });
  }
}

function withMarks(info: Json, marks: StoredMessages['marks']): Json {
  if (Object.keys(marks).length === 0) return info;
  if (info === null) return marks;
  if (typeof info === 'object' && !Array.isArray(info)) return { ...info, ...marks };
  return { environment: info, ...marks };
}

function withChanges(reason: string, changes: readonly string[]): string {
  if (changes.length === 0) return reason;
  const made = `${MADE_STORABLE}${[...new Set(changes)].join('; ')}`;
  return reason === '' ? made : `${reason}; ${made}`;
}

/** Kind of a task that a server gave with an action's result. */
function toldFamily(info: Json): string | null {
  const { taskFamily } = (info ?? {}) as { readonly taskFamily?: Json };
  return typeof taskFamily === 'string' ? taskFamily : null;
}

/** Logprobs and entropies are of sampled tokens only. */
function untrained(turn: Turn): Turn {
  return { ...turn, logprobs: new Float32Array(turn.tokenIds.length), rawLogprobs: null, entropies: null };
}

/** Token columns of a step: the prompt's tokens (not sampled: mask 0, logprob 0), then the action's. */
function joinTokens(promptIds: Int32Array, turn: Turn, isTrained: boolean) {
  const numPrompt = promptIds.length;
  const length = numPrompt + turn.tokenIds.length;
  const tokenIds = new Int32Array(length);
  tokenIds.set(promptIds);
  tokenIds.set(turn.tokenIds, numPrompt);
  const actionMask = new Uint8Array(length).fill(Number(isTrained), numPrompt);
  const readBy = turn.policyVersions.length > 0 ? turn.policyVersions[0] : -1;
  const tokenPolicyVersions = new Int32Array(length).fill(readBy, 0, numPrompt);
  tokenPolicyVersions.set(turn.policyVersions, numPrompt);
  return {
    tokenIds,
    actionMask,
    tokenLogprobs: placed(turn.logprobs, numPrompt, length),
    tokenRawLogprobs: turn.rawLogprobs && placed(turn.rawLogprobs, numPrompt, length),
    tokenEntropies: turn.entropies && placed(turn.entropies, numPrompt, length),
    tokenPolicyVersions,
  };
}

/** A column that is 0 before the values of a turn. */
function placed(values: Float32Array, numPrompt: number, length: number): Float32Array {
  const column = new Float32Array(length);
  column.set(values, numPrompt);
  return column;
}
