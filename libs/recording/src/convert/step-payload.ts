import {
  findUntrainableReason,
  type Json,
  type SamplingParameters,
  type StepRecorded,
  type StepTokenColumns,
  textsOfMessages,
  type Usage,
} from '@retrace/trajectory';
import type { WireStep, WireSampling, WireTokens, WireUsage } from '../wire/step-record.js';

/**
 * Turns a step as its caller knows it into the payload of a `StepRecorded`. What the caller left out is unknown there, too.
 *
 * @param contextTokens tokens of the episode's context before this step, which its prompt keeps unless the record says otherwise
 */
export function stepPayload(record: WireStep, contextTokens: number): StepRecorded {
  const { messages = null, rewards = {}, tokens = null, untrainable = '' } = record;
  const texts = textsOfMessages(messages as Json);
  const rewardNames = Object.keys(rewards);
  const columns = tokenColumns(tokens);
  const numSampled = columns.actionMask.reduce((sum, mask) => sum + mask, 0);
  const sampling = toSampling(record.sampling ?? null, numSampled);
  const logprobMode = record.logprobMode ?? (hasLogprobs(columns) ? 'raw' : 'none');
  return {
    step: record.step,
    observation: record.observation ?? texts?.observation ?? '',
    action: record.action ?? texts?.action ?? '',
    parsedAction: record.parsedAction ?? null,
    actionValid: record.actionValid ?? null,
    anchor: record.anchor ?? null,
    reward: record.reward ?? null,
    rewardNames,
    rewardValues: Float64Array.from(rewardNames, (name) => rewards[name] ?? Number.NaN),
    terminated: record.terminated ?? false,
    truncated: record.truncated ?? false,
    info: record.info ?? null,
    keptPrefixTokens: tokens?.keptPrefix ?? contextTokens,
    sampling,
    engine: record.engine ?? '',
    model: record.model ?? '',
    tokenizerHash: record.tokenizerHash ?? '',
    logprobMode,
    generationMs: record.generationMs ?? null,
    environmentMs: record.environmentMs ?? null,
    snapshot: null,
    messages,
    usage: toUsage(record.usage ?? null),
    // A caller may find more reasons than these rules, never fewer.
    untrainable: joinReasons(findUntrainableReason({ ...columns, sampling, logprobMode }), untrainable),
    ...columns,
  };
}

function joinReasons(...reasons: readonly string[]): string {
  return [...new Set(reasons.filter((reason) => reason !== ''))].join('; ');
}

function tokenColumns(tokens: WireTokens | null): StepTokenColumns {
  const ids = tokens?.ids ?? [];
  const mask = tokens?.mask ?? [];
  const versions = tokens?.versions;
  return {
    tokenIds: Int32Array.from(ids),
    actionMask: Uint8Array.from(mask),
    tokenLogprobs: tokens?.logprobs
      ? logprobColumn(tokens.logprobs, mask)
      : Float32Array.from(ids, (_, t) => (mask[t] === 1 ? Number.NaN : 0)),
    tokenRawLogprobs: tokens?.rawLogprobs ? realColumn(tokens.rawLogprobs) : null,
    tokenEntropies: tokens?.entropies ? realColumn(tokens.entropies) : null,
    tokenPolicyVersions: versions ? Int32Array.from(versions) : new Int32Array(ids.length).fill(-1),
    // A list without elements says nothing.
    tokenRoutedExperts: tokens?.routedExperts?.length ? Int32Array.from(tokens.routedExperts) : null,
  };
}

/** Missing is NaN where the agent sampled, and 0 where nothing was sampled. */
function logprobColumn(values: readonly (number | null)[], mask: readonly number[]): Float32Array {
  return Float32Array.from(values, (value, t) => value ?? (mask[t] === 1 ? Number.NaN : 0));
}

function realColumn(values: readonly (number | null)[]): Float32Array {
  return Float32Array.from(values, (value) => value ?? Number.NaN);
}

function hasLogprobs({ tokenLogprobs, actionMask }: StepTokenColumns): boolean {
  return tokenLogprobs.some((value, t) => actionMask[t] === 1 && !Number.isNaN(value));
}

function toSampling(sampling: WireSampling | null, numSampled: number): SamplingParameters | null {
  if (sampling === null) return null;
  const { temperature, topK = 0, topP = 1, greedy = false, maxNewTokens } = sampling;
  return { temperature, topK, topP, greedy, maxNewTokens: maxNewTokens ?? Math.max(1, numSampled) };
}

function toUsage(usage: WireUsage | null): Usage | null {
  if (usage === null) return null;
  return {
    inputTokens: usage.inputTokens ?? null,
    cachedInputTokens: usage.cachedInputTokens ?? null,
    outputTokens: usage.outputTokens ?? null,
    reasoningTokens: usage.reasoningTokens ?? null,
    costUsd: usage.costUsd ?? null,
  };
}
