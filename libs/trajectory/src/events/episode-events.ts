import {
  finiteNumber,
  flag,
  float64s,
  int32s,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberAtLeast,
  numberBetween,
  objectOf,
  oneOf,
  type PayloadsOf,
  text,
  uuid,
} from '../fields/field.js';
import { stepMessages } from '../fields/message-rules.js';
import { tokenFields } from './token-columns.js';

/** Where the tasks of an episode are from. */
export const split = oneOf('train', 'validation', 'test');

const count = nullable(integerAtLeast(0));
const milliseconds = nullable(numberAtLeast(0));

const sampling = objectOf({
  temperature: numberAtLeast(0).in('temperature'),
  /** 0 = off. */
  topK: integerAtLeast(0).in('top_k'),
  /** 1 = off. */
  topP: numberBetween(0, 1).in('top_p'),
  greedy: flag.in('greedy'),
  maxNewTokens: integerAtLeast(1).in('max_new_tokens'),
});

/** Tokens and cost of the model calls of a step, as the provider counted them; null = unknown. */
const usage = objectOf({
  inputTokens: count,
  /** Input tokens that came from the provider's cache. */
  cachedInputTokens: count,
  outputTokens: count,
  /** Output tokens that were reasoning. */
  reasoningTokens: count,
  /** US dollars. */
  costUsd: nullable(numberAtLeast(0)),
});

/** The fields of the events of stream `trajectories` (partitioned by episode). */
export const EPISODE_EVENTS = {
  EpisodeStarted: {
    /** Episodes that share task and environment seed, sampled independently. */
    groupId: nonEmptyText.in('group_id'),
    groupSize: integerAtLeast(1).in('group_size'),
    /** Place of the episode in its group, 0 … groupSize − 1. */
    groupMember: integerAtLeast(0).in('group_member'),
    /** '' = unknown. */
    environment: text.in('environment'),
    /** Task parameters that the environment was reset with. */
    task: json,
    /** null = unknown. */
    environmentSeed: nullable(integerAtLeast(0)).in('environment_seed'),
    /** null = unknown. */
    samplingSeed: nullable(integerAtLeast(0)).in('sampling_seed'),
    split: split.in('split'),
    /** The actor: `policy` (the run's policy), `expert`, `random`, or the name of an external agent. */
    agent: nonEmptyText.in('agent'),
    /** The step this episode was forked from. */
    forkedFrom: nullable(objectOf({ episodeId: uuid, step: integerAtLeast(0) })),
    /** The run of the episode that it was forked from; null = its own run, or no fork. */
    forkedFromRunId: nullable(uuid).in('forked_from_run_id').since(3, null),
    /** The caller's own id of the episode; '' = none. */
    externalId: text.in('external_id').since(2, ''),
    /** Tags that it started with; `EpisodeAnnotated` may replace them. */
    tags: listOf(nonEmptyText).in('tags').since(2, []),
    /** null = none; `EpisodeAnnotated` may replace it. */
    metadata: json.in('metadata').since(2, null),
    /** The episode that called this one, as an agent calls a sub-agent; null = none. Forks and retries have `forkedFrom`. */
    parentEpisodeId: nullable(uuid).in('parent_episode_id').since(2, null),
  },

  StepRecorded: {
    /** 0 … numSteps − 1; equals envelope `seq` − 1. */
    step: integerAtLeast(0),
    observation: text.in('observation'),
    action: text.in('action'),
    /** The action as the environment understood it; null when it could not be parsed. */
    parsedAction: nullable(text).in('parsed_action'),
    /** null = unknown. */
    actionValid: nullable(flag).in('action_valid'),
    /** Identifies the state of the environment, according to the environment (GiGPO); null when it offers none. Never prompt text. */
    anchor: nullable(text).in('anchor'),
    /** Missing (null) is not zero. */
    reward: nullable(finiteNumber).in('reward'),
    rewardNames: listOf(nonEmptyText).in('reward_names'),
    rewardValues: float64s.in('reward_values'),
    terminated: flag.in('terminated'),
    truncated: flag.in('truncated'),
    info: json.in('payload'),
    /** Number of tokens of the episode's context so far that this step's prompt kept; fewer than all = a new sequence starts. */
    keptPrefixTokens: integerAtLeast(0).in('kept_prefix_tokens'),
    /** null = unknown, or nothing was sampled. */
    sampling: nullable(sampling),
    /** Engine, model and tokenizer hash: '' = unknown. */
    engine: text.in('engine'),
    model: text.in('model'),
    tokenizerHash: text.in('tokenizer_hash'),
    /** Whether `tokenLogprobs` are after the sampling transform, before it, or absent. */
    logprobMode: oneOf('processed', 'raw', 'none').in('logprob_mode'),
    /** null = unknown. */
    generationMs: milliseconds.in('generation_ms').notContent(),
    /** null = unknown. */
    environmentMs: milliseconds.in('environment_ms').notContent(),
    /** Reference to an environment snapshot, if the environment has one. */
    snapshot: nullable(text).in('snapshot'),
    /**
     * Chat messages that this step added to the conversation, in the form of OpenAI's chat API: `{ "input": […], "output": … }`. Input:
     * those since the output of the step before, in order. Output: the agent's message; null = none. null = no chat.
     */
    messages: json.ruledBy(stepMessages).in('messages').since(2, null),
    usage: nullable(usage).in('usage').since(2, null),
    /** Why no policy gradient may train on the step, in words; '' = it may. At least what `findUntrainableReason` says. */
    untrainable: text.in('untrainable').notContent(),
    ...tokenFields,
  },

  /** Seals the episode's steps. */
  EpisodeEnded: {
    endReason: oneOf('terminated', 'truncated', 'abandoned').in('end_reason'),
    /** Reason in words for truncated and abandoned episodes; '' otherwise. */
    endDetail: text,
    /** Observation after the last action: V(s_T) needs it when truncated. Empty, with no tokens, where the environment failed to give one. */
    finalObservation: text.in('observation'),
    finalTokenIds: int32s.in('token_ids'),
    /** As `StepRecorded.keptPrefixTokens`, for the final observation's prompt. */
    finalKeptPrefixTokens: integerAtLeast(0).in('kept_prefix_tokens'),
    numSteps: integerAtLeast(0).in('num_steps'),
    /** Sum of step rewards that are not missing; null when all are missing. */
    return: nullable(finiteNumber).in('return'),
    success: nullable(flag).in('success'),
    numTokens: integerAtLeast(0).in('num_tokens'),
    numActionTokens: integerAtLeast(0).in('num_action_tokens'),
    /** −1 when no policy of this run sampled in it. */
    policyVersionMin: integerAtLeast(-1).in('policy_version_min'),
    policyVersionMax: integerAtLeast(-1).in('policy_version_max'),
  },

  RewardAssigned: {
    /** The step it rewards; null = the whole episode. */
    step: nullable(integerAtLeast(0)).in('reward_step'),
    name: nonEmptyText.in('reward_name'),
    /** null retracts an earlier value: missing, not zero. */
    value: nullable(finiteNumber).in('reward'),
    source: text.in('source'),
    rationale: text,
  },

  /** Changes what is known about an episode; of several the newest counts, by time and then by place in the log. */
  EpisodeAnnotated: {
    /** Replace the episode's tags; null = unchanged. */
    tags: nullable(listOf(nonEmptyText)).in('payload'),
    /** Replaces the episode's metadata; null = unchanged. */
    metadata: json.in('metadata'),
    /** Who or what annotates. */
    source: text.in('source'),
  },
};

export type EpisodePayloads = PayloadsOf<typeof EPISODE_EVENTS>;
export type EpisodeStarted = PayloadsOf<typeof EPISODE_EVENTS>['EpisodeStarted'];
export type StepRecorded = PayloadsOf<typeof EPISODE_EVENTS>['StepRecorded'];
export type EpisodeEnded = PayloadsOf<typeof EPISODE_EVENTS>['EpisodeEnded'];
export type RewardAssigned = PayloadsOf<typeof EPISODE_EVENTS>['RewardAssigned'];
export type EpisodeAnnotated = PayloadsOf<typeof EPISODE_EVENTS>['EpisodeAnnotated'];
export type Split = (typeof split)['value'];
export type SamplingParameters = (typeof sampling)['value'];
export type Usage = (typeof usage)['value'];
export type EndReason = EpisodeEnded['endReason'];
