import {
  findUntrainableReason,
  ofTokenColumns,
  type Json,
  type SamplingParameters,
  type StepRecorded,
  type StepTokenColumns,
  textsOfMessages,
  TOKEN_COLUMNS,
  type TokenColumnName,
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
  return ofTokenColumns((_, { field, holds }) => {
    const values = (tokens as Readonly<Record<string, readonly (number | null)[] | null>> | null)?.[field];
    return COLUMN_OF[holds](values ?? null, ids, mask);
  }) as unknown as StepTokenColumns;
}

type Numbers = readonly number[];
type MakeColumn = (values: readonly (number | null)[] | null, ids: Numbers, mask: Numbers) => unknown;

const integerColumn: MakeColumn = (values) => Int32Array.from(values as Numbers);

const COLUMN_OF: Readonly<Record<(typeof TOKEN_COLUMNS)[TokenColumnName]['holds'], MakeColumn>> = {
  ids: (_, ids) => Int32Array.from(ids),
  mask: (_values, _ids, mask) => Uint8Array.from(mask),
  logprobs: (values, ids, mask) => logprobColumn(values ?? ids.map(() => null), mask),
  logprobsOrNaN: (values) => values && realColumn(values),
  entropiesOrNaN: (values) => values && realColumn(values),
  versions: (values, ids, mask) =>
    values ? integerColumn(values, ids, mask) : new Int32Array(ids.length).fill(-1),
  // A list without elements says nothing.
  lists: (values, ids, mask) => (values?.length ? integerColumn(values, ids, mask) : null),
};

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
