import type { StepResult, Observation } from '@retrace/environments';
import {
  newEpisodeEvent,
  type EndReason,
  type EpisodeEventKind,
  type PayloadOf,
  type RetraceEvent,
  type SamplingParameters,
} from '@retrace/trajectory';
import type { PlannedEpisode } from './round-plan.js';

/** What an agent did in one turn, as token columns. */
export interface Turn {
  readonly action: string;
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly rawLogprobs: Float32Array | null;
  readonly entropies: Float32Array | null;
  readonly policyVersions: Int32Array;
  readonly logprobMode: 'processed' | 'none';
  readonly generationMs: number;
}

/** What the agent was shown before a turn. */
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

/** What listing, sampling and metrics need of an ended episode. */
export interface EpisodeSummary {
  readonly plan: PlannedEpisode;
  readonly endReason: EndReason;
  readonly numSteps: number;
  readonly return: number | null;
  readonly success: boolean | null;
  readonly numActionTokens: number;
  readonly numInvalidActions: number;
  readonly policyVersionMin: number;
  readonly policyVersionMax: number;
}

/** Turns what happens in one episode into its events, in order, and keeps the running summary that seals it. */
export class EpisodeRecorder {
  private seq = 0;
  private numSteps = 0;
  private returnSum = 0;
  private numRewards = 0;
  private numTokens = 0;
  private numActionTokens = 0;
  private numInvalidActions = 0;
  private policyVersionMin = -1;
  private policyVersionMax = -1;

  constructor(
    private readonly context: RecorderContext,
    private readonly plan: PlannedEpisode,
  ) {}

  started(): RetraceEvent<'EpisodeStarted'> {
    const { group, groupMember, samplingSeed } = this.plan;
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
      forkedFrom: null,
    });
  }

  step(
    prompt: Prompt,
    turn: Turn,
    result: StepResult,
    sampling: SamplingParameters | null,
    environmentMs: number,
  ) {
    const columns = joinTokens(prompt.tokenIds, turn);
    this.numTokens += columns.tokenIds.length;
    this.numActionTokens += turn.tokenIds.length;
    if (!result.actionValid) this.numInvalidActions++;
    if (result.reward !== null) {
      this.returnSum += result.reward;
      this.numRewards++;
    }
    for (const version of turn.policyVersions) {
      if (version < 0) continue;
      this.policyVersionMin = this.policyVersionMin < 0 ? version : Math.min(this.policyVersionMin, version);
      this.policyVersionMax = Math.max(this.policyVersionMax, version);
    }
    return this.event('StepRecorded', {
      step: this.numSteps++,
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
      logprobMode: turn.logprobMode,
      generationMs: turn.generationMs,
      environmentMs,
      snapshot: null,
    });
  }

  ended(options: {
    readonly endReason: EndReason;
    readonly endDetail: string;
    readonly final: Prompt;
    readonly success: boolean | null;
  }): { readonly event: RetraceEvent<'EpisodeEnded'>; readonly summary: EpisodeSummary } {
    const summary: EpisodeSummary = {
      plan: this.plan,
      endReason: options.endReason,
      numSteps: this.numSteps,
      return: this.numRewards > 0 ? this.returnSum : null,
      success: options.success,
      numActionTokens: this.numActionTokens,
      numInvalidActions: this.numInvalidActions,
      policyVersionMin: this.policyVersionMin,
      policyVersionMax: this.policyVersionMax,
    };
    const event = this.event('EpisodeEnded', {
      endReason: options.endReason,
      endDetail: options.endDetail,
      finalObservation: options.final.observation.text,
      finalTokenIds: options.final.tokenIds,
      finalKeptPrefixTokens: options.final.keptPrefixTokens,
      numSteps: this.numSteps,
      return: summary.return,
      success: options.success,
      numTokens: this.numTokens,
      numActionTokens: this.numActionTokens,
      policyVersionMin: this.policyVersionMin,
      policyVersionMax: this.policyVersionMax,
    });
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

/** Token columns of a step: the prompt's tokens (not sampled: mask 0, logprob 0), then the action's. */
function joinTokens(promptIds: Int32Array, turn: Turn) {
  const numPrompt = promptIds.length;
  const length = numPrompt + turn.tokenIds.length;
  const tokenIds = new Int32Array(length);
  tokenIds.set(promptIds);
  tokenIds.set(turn.tokenIds, numPrompt);
  const actionMask = new Uint8Array(length).fill(1, numPrompt);
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
