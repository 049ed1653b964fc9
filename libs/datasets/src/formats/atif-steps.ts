import { writeJson } from '@retrace/rows';
import type { Json } from '@retrace/trajectory';
import { outputMessage, type RecordedMessage, type StoredStep } from '../stored-episode.js';
import { argumentsObject } from '../call-arguments.js';
import type { CallTokenIds } from './atif-tokens.js';

interface ToolCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** The agent's entry of a step: its message, tool calls, and what they cost. */
export function agentStep(step: StoredStep, tokens: CallTokenIds | null, info: Json): Record<string, Json> {
  const message = outputMessage(step) ?? { role: 'assistant', content: '' };
  const metrics = toMetrics(step, tokens);
  return {
    timestamp: step.occurredAt,
    source: 'agent',
    ...(step.model !== '' && { model_name: step.model }),
    ...messageFields(message),
    ...(Object.keys(metrics).length > 0 && { metrics }),
    llm_call_count: 1,
    extra: { retrace: toRetraceFields(step, tokens, info) },
  };
}

/** A message of the agent that a prompt repeats, which is no call of a model. */
export function copiedStep(message: RecordedMessage): Record<string, Json> {
  return { source: 'agent', ...messageFields(message), is_copied_context: true };
}

function messageFields(message: RecordedMessage): Record<string, Json> {
  const { content, reasoning_content: reasoning, tool_calls: calls } = message;
  return {
    message: typeof content === 'string' ? content : content === null ? '' : writeJson(content),
    ...(typeof reasoning === 'string' && reasoning !== '' && { reasoning_content: reasoning }),
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: (calls as ToolCall[]).map(toToolCall) }),
  };
}

/** Fields that the format has no place for; see `AtifRetraceStep`. Missing = unknown. */
function toRetraceFields(step: StoredStep, tokens: CallTokenIds | null, info: Json): Record<string, Json> {
  const { reward, anchor, details } = step;
  const { parsedAction, actionValid, rewards, terminated, truncated, sampling } = details ?? {};
  const { engine, tokenizerHash, logprobMode } = details ?? {};
  const known = {
    parsedAction: parsedAction ?? null,
    actionValid: actionValid ?? null,
    anchor,
    rewards: rewards === undefined || Object.keys(rewards).length === 0 ? null : rewards,
    terminated: terminated || null,
    truncated: truncated || null,
    info,
    sampling: sampling as unknown as Json,
    engine: engine || null,
    tokenizerHash: tokenizerHash || null,
    logprobMode: tokens === null ? null : (logprobMode ?? null),
    prompt: tokens === null || tokens.promptIds !== null ? null : tokens.appended,
  };
  const fields = Object.entries(known).filter(([, value]) => value !== null && value !== undefined);
  return { step: step.step, reward, ...(Object.fromEntries(fields) as Record<string, Json>) };
}

/** Adds results to the agent's last step. A result whose call that step does not have is kept without its id. */
export function withObservation(
  steps: Record<string, Json>[],
  results: readonly Readonly<Record<string, Json>>[],
): void {
  const last = steps.at(-1);
  if (last?.source !== 'agent') {
    for (const { content } of results) steps.push({ source: 'user', message: content });
    return;
  }
  const calls = ((last.tool_calls ?? []) as { readonly tool_call_id: string }[]).map(
    (call) => call.tool_call_id,
  );
  const before = (last.observation as { readonly results: readonly Json[] } | undefined)?.results ?? [];
  const known = results.map(({ content, source_call_id: callId }): Json =>
    typeof callId === 'string' && calls.includes(callId) ? { source_call_id: callId, content } : { content },
  );
  last.observation = { results: [...before, ...known] };
}

function toToolCall({ id, function: called }: ToolCall, index: number): Record<string, Json> {
  const text = called?.arguments ?? '';
  return {
    tool_call_id: id ?? `call_${index}`,
    function_name: called?.name ?? '',
    ...parseArguments(text),
  };
}

/** ATIF's arguments are an object; text that is none is kept under `extra`. */
function parseArguments(text: string): Record<string, Json> {
  const value = argumentsObject(text);
  return value === null ? { arguments: {}, extra: { arguments_text: text } } : { arguments: value };
}

function toMetrics({ usage }: StoredStep, tokens: CallTokenIds | null): Record<string, Json> {
  const metrics = {
    prompt_tokens: usage.inputTokens ?? tokens?.numPromptTokens ?? null,
    completion_tokens: usage.outputTokens ?? tokens?.completionIds.length ?? null,
    cached_tokens: usage.cachedInputTokens,
    cost_usd: usage.costUsd,
    prompt_token_ids: tokens?.promptIds ?? null,
    completion_token_ids: tokens?.completionIds ?? null,
    logprobs: tokens?.logprobs ?? null,
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== null));
}
