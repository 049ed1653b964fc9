import type { Json } from '@retrace/trajectory';
import { outputMessage, type StoredStep } from '../stored-episode.js';
import type { StepContext } from './atif-tokens.js';

interface ToolCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** The agent's entry of a step: its message, tool calls, and what they cost. */
export function agentStep(step: StoredStep, context: StepContext | null): Record<string, Json> {
  const { content, reasoning_content: reasoning, tool_calls: calls } = outputMessage(step);
  const metrics = metricsOf(step, context);
  return {
    timestamp: step.occurredAt,
    source: 'agent',
    ...(step.model !== '' && { model_name: step.model }),
    message: typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content),
    ...(typeof reasoning === 'string' && reasoning !== '' && { reasoning_content: reasoning }),
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: (calls as ToolCall[]).map(toolCallOf) }),
    ...(Object.keys(metrics).length > 0 && { metrics }),
    llm_call_count: 1,
    extra: { retrace: { step: step.step, reward: step.reward } },
  };
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

function toolCallOf({ id, function: called }: ToolCall, index: number): Record<string, Json> {
  const text = called?.arguments ?? '';
  return {
    tool_call_id: id ?? `call_${index}`,
    function_name: called?.name ?? '',
    ...argumentsOf(text),
  };
}

/** ATIF's arguments are an object; text that is none is kept under `extra`. */
function argumentsOf(text: string): Record<string, Json> {
  try {
    const value = JSON.parse(text) as Json;
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { arguments: value };
  } catch {
    // The model wrote something that is no JSON.
  }
  return { arguments: {}, extra: { arguments_text: text } };
}

function metricsOf({ usage }: StoredStep, context: StepContext | null): Record<string, Json> {
  const metrics = {
    prompt_tokens: usage.inputTokens ?? context?.promptIds.length ?? null,
    completion_tokens: usage.outputTokens ?? context?.completionIds.length ?? null,
    cached_tokens: usage.cachedInputTokens,
    cost_usd: usage.costUsd,
    prompt_token_ids: context?.promptIds ?? null,
    completion_token_ids: context?.completionIds ?? null,
    logprobs: context?.logprobs ?? null,
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== null));
}
