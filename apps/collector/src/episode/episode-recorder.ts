import type { StepResult, Observation } from '@retrace/environments';
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
  type Usage,
} from '@retrace/trajectory';
import type { PlannedEpisode } from '../round/round-plan.js';

/** An agent's action in one turn, as token columns. */
export interface Turn {
  readonly action: string;
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly rawLogprobs: Float32Array | null;
  readonly entropies: Float32Array | null;
  readonly policyVersions: Int32Array;
  readonly logprobMode: 'processed' | 'none';
  readonly generationMs: number;
  /** As `StepRecorded.messages` (default null). */
  readonly messages?: Json;
  /** As the model's server counted it (default null). */
  readonly usage?: Usage;
  /** Why no policy gradient may train on the turn, where its tokens do not show it. */
  readonly untrainable?: string;
}

/** Tokens of a turn that no model was asked for. */
export const NO_TURN: Turn = {
  action: '',
  tokenIds: new Int32Array(0),
  logprobs: new Float32Array(0),
  rawLogprobs: null,
  entropies: null,
  policyVersions: new Int32Array(0),
  logprobMode: 'none',
  generationMs: 0,
};

/** Input of the agent before a turn. */
export interface Prompt {
  readonly observation: Observation;
  /** Tokens appended to the context. */
  readonly tokenIds: Int32Array;
  readonly keptPrefixTokens: number;
}

export interface RecorderContext {
  readonly runId: string;
  readonly logId: string;
  readonly environment: string;
  readonly engine: string;
  readonly model: string;
  readonly tokenizerHash: string;
  readonly nowUs: () => number;
}

/** Why an episode could not go on. */
export interface EpisodeFailure {
  /** The environment, the server of the model that samples, or an agent of the user's. */
  readonly of: 'environment' | 'model' | 'agent';
  /** In words. */
  readonly reason: string;
}

/** An ended episode, as groups and metrics read it. */
export interface EndedEpisode extends EpisodeTotals {
  readonly plan: PlannedEpisode;
  readonly endReason: EndReason;
  readonly success: boolean | null;
  readonly numInvalidActions: number;
  /** The part that failed, and why; null when none did. */
  readonly failure: EpisodeFailure | null;
}

interface StepOptions {
  readonly prompt: Prompt;
  readonly turn: Turn;
  readonly result: StepResult;
  readonly sampling: SamplingParameters | null;
  readonly environmentMs: number;
  /** False stores the turn's tokens as part of the prompt. */
  readonly isTrained: boolean;
}

/** Makes the events of one episode, in order, and sums up its steps for the event that seals it. */
export class EpisodeRecorder {
  private seq = 0;
  private readonly steps: StepTotals[] = [];
  private numInvalidActions = 0;

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

  step({ prompt, turn, result, sampling, environmentMs, isTrained }: StepOptions) {
    const columns = joinTokens(prompt.tokenIds, isTrained ? turn : untrained(turn), isTrained);
    const { logprobMode } = turn;
    if (!result.actionValid) this.numInvalidActions++;
    const event = this.event('StepRecorded', {
      step: this.steps.length,
      observation: prompt.observation.text,
      action: turn.action,
      parsedAction: result.parsedAction,
      actionValid: result.actionValid,
      anchor: prompt.observation.anchor,
      reward: result.reward,
      rewardNames: result.rewardNames,
      rewardValues: Float64Array.from(result.rewardValues),
      terminated: result.terminated,
      truncated: result.truncated,
      info: result.info,
      ...columns,
      keptPrefixTokens: prompt.keptPrefixTokens,
      sampling,
      engine: this.context.engine,
      model: this.context.model,
      tokenizerHash: this.context.tokenizerHash,
      logprobMode,
      generationMs: turn.generationMs,
      environmentMs,
      snapshot: null,
      messages: turn.messages ?? null,
      usage: turn.usage ?? null,
      untrainable: turn.untrainable ?? findUntrainableReason({ ...columns, sampling, logprobMode }),
    });
    this.steps.push(stepTotals(event.payload));
    return event;
  }

  ended(options: {
    readonly endReason: EndReason;
    readonly endDetail: string;
    readonly final: Prompt;
    readonly success: boolean | null;
  }): { readonly event: RetraceEvent<'EpisodeEnded'>; readonly summary: Omit<EndedEpisode, 'failure'> } {
    const totals = episodeTotals(this.steps);
    const event = this.event('EpisodeEnded', {
      endReason: options.endReason,
      endDetail: options.endDetail,
      finalObservation: options.final.observation.text,
      finalTokenIds: options.final.tokenIds,
      finalKeptPrefixTokens: options.final.keptPrefixTokens,
      success: options.success,
      ...totals,
    });
    const summary = {
      ...totals,
      plan: this.plan,
      endReason: options.endReason,
      success: options.success,
      numInvalidActions: this.numInvalidActions,
    };
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
  const place = (values: Float32Array): Float32Array => {
    const column = new Float32Array(length);
    column.set(values, numPrompt);
    return column;
  };
  const readBy = turn.policyVersions.length > 0 ? turn.policyVersions[0] : -1;
  const tokenPolicyVersions = new Int32Array(length).fill(readBy, 0, numPrompt);
  tokenPolicyVersions.set(turn.policyVersions, numPrompt);
  return {
    tokenIds,
    actionMask,
    tokenLogprobs: place(turn.logprobs),
    tokenRawLogprobs: turn.rawLogprobs && place(turn.rawLogprobs),
    tokenEntropies: turn.entropies && place(turn.entropies),
    tokenPolicyVersions,
  };
}
