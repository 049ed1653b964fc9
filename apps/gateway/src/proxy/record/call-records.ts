import {
  appendToContext,
  type EpisodeRecord,
  type JsonObject,
  type JsonValue,
  type StepRecord,
  type StepTokens,
  type TokenUsage,
} from '@retrace/client';
import type { StepAdded } from '../episode/book-event.js';
import type { Branch } from '../episode/branch.js';
import { makeExternalId } from '../episode/episode-book.js';
import { toolsKey, type PromptKeys } from '../episode/prompt-keys.js';
import type { LogprobMode, ModelServerKind, Protocol, RecordedCall } from '@retrace/chat';

/** Fields of a new episode, as the headers of its first call give them. */
export interface EpisodeHeaders {
  readonly group: string | null;
  readonly groupSize: number | null;
  readonly task: JsonValue | undefined;
  readonly tags: readonly string[];
}

/** Facts of a call that its answer does not tell. */
export interface CallFacts {
  readonly protocol: Protocol['name'];
  readonly upstream: ModelServerKind;
  /** Hash of the upstream's tokenizer; null = unknown. */
  readonly tokenizerHash: string | null;
  readonly keys: PromptKeys;
  readonly logprobMode: LogprobMode | null;
  readonly firstByteMs: number | null;
  readonly generationMs: number;
  readonly occurredAt: number;
}

export function episodeRecord(
  branch: Branch,
  { group, groupSize, task, tags }: EpisodeHeaders,
  groupMember: number,
  occurredAt: number,
): EpisodeRecord {
  const { episode, origin } = branch;
  const externalId = makeExternalId(branch);
  const isRoot = origin.kind === 'root';
  return {
    type: 'episode',
    episode,
    occurredAt,
    ...(externalId !== undefined && { externalId }),
    ...(origin.kind === 'call' && { parentEpisode: origin.of }),
    ...(origin.kind === 'fork' && { forkedFrom: { episode: origin.of, step: origin.step } }),
    ...(isRoot && group !== null && { groupId: group, groupMember, groupSize: groupSize ?? 1 }),
    ...(isRoot && task !== undefined && { task }),
    ...(tags.length > 0 && { tags }),
  };
}

export interface StepParts {
  readonly record: StepRecord;
  readonly toolsKey: string;
  /** The whole answer of the model is a part of the conversation; otherwise only the prompt is. */
  readonly isAnswered: boolean;
}

/** One call as the next step of its episode: the messages and tokens that it added. */
export function stepParts(branch: Branch, call: RecordedCall, facts: CallFacts): StepParts {
  const isAnswered = call.output !== null && call.error === null && !call.isCut;
  const tokens = isAnswered ? toStepTokens(branch, call) : null;
  const key = call.tools === null || call.tools.length === 0 ? '' : toolsKey(call.tools);
  const untrainable = describeReason(call);
  const record: StepRecord = {
    type: 'step',
    episode: branch.episode,
    step: branch.numSteps,
    occurredAt: facts.occurredAt,
    messages: { input: facts.keys.since(branch.tip.length), output: isAnswered ? call.output : null },
    generationMs: facts.generationMs,
    info: toInfo(call, facts, key !== branch.toolsKey, isAnswered),
    ...(call.model !== null && { model: call.model }),
    ...(facts.upstream !== 'other' && { engine: facts.upstream }),
    ...toUsageField(call),
    ...(call.sampling && { sampling: call.sampling }),
    ...(tokens && { tokens }),
    ...(tokens && facts.tokenizerHash !== null && { tokenizerHash: facts.tokenizerHash }),
    ...(tokens?.logprobs && facts.logprobMode !== null && { logprobMode: facts.logprobMode }),
    ...(untrainable !== undefined && { untrainable }),
  };
  return { record, toolsKey: key, isAnswered };
}

function toStepTokens({ tokens: context }: Branch, { tokens }: RecordedCall): StepTokens | null {
  if (tokens === null) return null;
  const { promptIds, sampledIds, logprobs } = tokens;
  return appendToContext(context, promptIds, sampledIds, logprobs ? { logprobs } : {}).tokens;
}

function describeReason({ error, isCut, hole, output, untrainable }: RecordedCall): string | undefined {
  if (error !== null) return 'the call failed';
  if (hole !== undefined) return hole;
  if (isCut) return 'the answer was cut off';
  return output === null ? 'the answer was not understood' : untrainable;
}

function toInfo(
  call: RecordedCall,
  { protocol, firstByteMs }: CallFacts,
  hasNewTools: boolean,
  isAnswered: boolean,
): JsonObject {
  const { finishReason, responseId, weightVersion, otherOutputs, error, isCut, hole, output, tools } = call;
  const { statedSampling } = call;
  return {
    protocol,
    ...(finishReason !== null && { finishReason }),
    ...(responseId !== null && { responseId }),
    ...(weightVersion !== null && { weightVersion }),
    ...(firstByteMs !== null && { firstByteMs }),
    ...(statedSampling !== undefined && { statedSampling }),
    ...(otherOutputs.length > 0 && { otherOutputs: otherOutputs as unknown as JsonValue }),
    ...(hasNewTools && { toolDefinitions: tools ?? [] }),
    ...(error !== null && { error: { status: error.status, message: error.message } }),
    ...(isCut && { isCut }),
    ...(hole !== undefined && { hole }),
    ...(!isAnswered && output !== null && { partialOutput: output as unknown as JsonValue }),
  };
}

function toUsageField({ usage, tokens }: RecordedCall): { readonly usage?: TokenUsage } {
  if (usage !== null) return { usage };
  return tokens === null
    ? {}
    : { usage: { inputTokens: tokens.promptIds.length, outputTokens: tokens.sampledIds.length } };
}

/** The places after the prompt and after the answer; without an answer, a repeated prompt goes on from the prompt. */
export function listPlaces(
  keys: PromptKeys,
  output: RecordedCall['output'],
): Pick<StepAdded, 'prompt' | 'tip'> {
  const prompt = { length: keys.length, key: keys.keyAt(keys.length) };
  return { prompt, tip: output === null ? prompt : keys.after(output) };
}
