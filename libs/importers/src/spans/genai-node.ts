import { asIds, asObject } from '@retrace/chat';
import { writeJson } from '@retrace/rows';
import { statedSampling } from '../conversation/stated-sampling.js';
import { looseJson, looseNumber, looseText } from '../fields.js';
import { contentLogprobs } from '../tokens/token-context.js';
import type { WireMessage, WireStep, WireUsage } from '@retrace/recording';
import { genAiMessages } from './genai-messages.js';
import {
  langfuseFailure,
  langfuseKind,
  langfuseObject,
  langfuseResult,
  langfuseTools,
} from './langfuse-attributes.js';
import { readToolDefinitions } from './offered-tools.js';
import {
  invocationParameters,
  openInferenceKind,
  openInferenceResult,
  openInferenceTools,
} from './openinference.js';
import type { Attributes, OtelSpan } from './otel-span.js';
import { spanRewards } from './span-rewards.js';
import type { CallTokens, ModelCall, TraceNode } from './trace-node.js';

const CALL_OPERATIONS: ReadonlySet<string> = new Set(['chat', 'text_completion', 'generate_content']);
const AGENT_OPERATIONS: ReadonlySet<string> = new Set(['invoke_agent', 'invoke_workflow']);

/** Spans of tracers that name no operation: OpenLLMetry, AgentOps, LiteLLM's proxy, and the AI SDK before version 7. */
const CALL_NAMES =
  /(^|\.)(openai\.chat\.completion|chat_model\.llm|doGenerate|doStream)|^(litellm_request|raw_gen_ai_request)$/;

/** SDKs' limits are larger; a shorter text that is no JSON is a text. */
const MIN_CUT_LENGTH = 32;

const MODEL_ATTRIBUTES = [
  'gen_ai.response.model',
  'gen_ai.request.model',
  'ai.model.id',
  'llm.model_name',
  'langfuse.observation.model.name',
];
const ENGINE_ATTRIBUTES = [
  'gen_ai.provider.name',
  'gen_ai.system',
  'ai.model.provider',
  'llm.provider',
  'llm.system',
];
const USAGE_ATTRIBUTES = {
  input: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'ai.usage.promptTokens',
    'llm.token_count.prompt',
  ],
  cachedInput: ['gen_ai.usage.cache_read.input_tokens', 'llm.token_count.prompt_details.cache_read'],
  output: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'ai.usage.completionTokens',
    'llm.token_count.completion',
  ],
  reasoning: ['gen_ai.usage.reasoning.output_tokens', 'llm.token_count.completion_details.reasoning'],
  cost: ['gen_ai.usage.cost', 'gen_ai.usage.total_cost', 'llm.cost.total'],
};

/** Reads an OpenTelemetry span by the GenAI conventions, present and past, and those of agent-lightning. */
export function genAiNode(span: OtelSpan): TraceNode {
  const { attributes } = span;
  const kind = readKind(span);
  return {
    id: span.spanId,
    parentId: span.parentId,
    name: span.name,
    kind,
    sequence: span.sequence,
    startUs: span.startUs,
    endUs: span.endUs,
    failure: describeFailure(span),
    call: kind === 'call' ? readCall(span) : null,
    toolResult: kind === 'tool' ? findToolResult(attributes) : null,
    agentName: readAgentName(span),
    cut: kind === 'call' ? cutAttributes(span) : [],
    rewards: spanRewards(span, kind === 'call'),
  };
}

function readKind({ name, attributes }: OtelSpan): TraceNode['kind'] {
  const operation = looseText(attributes['gen_ai.operation.name']);
  if (operation !== undefined) {
    if (CALL_OPERATIONS.has(operation)) return 'call';
    if (AGENT_OPERATIONS.has(operation)) return 'agent';
    return operation === 'execute_tool' ? 'tool' : 'other';
  }
  if (CALL_NAMES.test(name)) return 'call';
  if (attributes['agentops.span.kind'] === 'agent') return 'agent';
  if (looseText(attributes['ai.toolCall.name']) !== undefined) return 'tool';
  const named = langfuseKind(attributes) ?? openInferenceKind(attributes);
  if (named !== undefined) return named;
  const names = Object.keys(attributes);
  return names.some((key) => /^gen_ai\.(prompt|completion|output\.messages)(\.0|$)/.test(key))
    ? 'call'
    : 'other';
}

function describeFailure({ isError, statusMessage, attributes }: OtelSpan): string {
  const failure = langfuseFailure(attributes);
  if (failure !== undefined) return failure;
  if (!isError) return '';
  return statusMessage || (looseText(attributes['error.type']) ?? 'the span ended with an error');
}

/** The name of an agent; a tracer that gives none names the agent's span after it. */
function readAgentName({ name, attributes }: OtelSpan): string {
  const given = firstText(attributes, 'gen_ai.agent.name', 'agent.name', 'executor.id');
  const isNamedBySpan = (langfuseKind(attributes) ?? openInferenceKind(attributes)) === 'agent';
  return given ?? (isNamedBySpan ? name : '');
}

/** Whether a span is a call of a model, as far as its tracer says so. */
export const isModelCall = (span: OtelSpan): boolean => readKind(span) === 'call';

/** Attributes whose JSON ends too early, as the limit of an SDK cuts them, and how many a span lacks altogether. */
function cutAttributes({ attributes, numDroppedAttributes = 0 }: OtelSpan): readonly string[] {
  const cut = Object.entries(attributes).flatMap(([name, value]) => {
    const isJson =
      typeof value === 'string' && value.length >= MIN_CUT_LENGTH && /^\s*[[{]["{[\]}\s]/.test(value);
    return isJson && typeof looseJson(value) === 'string' ? [name] : [];
  });
  return numDroppedAttributes === 0 ? cut : [...cut, `${numDroppedAttributes} attributes that were dropped`];
}

function readCall(span: OtelSpan): ModelCall {
  const { attributes } = span;
  const { input, output } = genAiMessages(span);
  return {
    input,
    output,
    usage: findUsage(attributes),
    model: firstText(attributes, ...MODEL_ATTRIBUTES) ?? '',
    engine: firstText(attributes, ...ENGINE_ATTRIBUTES) ?? '',
    sampling: findSampling(attributes),
    tokens: findTokens(attributes),
    tools:
      readToolDefinitions(attributes['gen_ai.tool.definitions'] ?? attributes['ai.prompt.tools']) ??
      openInferenceTools(attributes) ??
      langfuseTools(attributes),
    responseId: firstText(attributes, 'gen_ai.response.id', 'llm.hosted_vllm.id', 'ai.response.id') ?? '',
  };
}

function findUsage(attributes: Attributes): WireUsage | null {
  const details = langfuseObject(attributes, 'usage_details');
  const costs = langfuseObject(attributes, 'cost_details');
  const counted = (names: readonly string[], ...ofLangfuse: readonly string[]) =>
    firstNumber(attributes, ...names) ?? firstNumber(details, ...ofLangfuse);
  const usage = {
    inputTokens: counted(USAGE_ATTRIBUTES.input, 'input', 'prompt_tokens'),
    cachedInputTokens: counted(
      USAGE_ATTRIBUTES.cachedInput,
      'input_cached_tokens',
      'cache_read_input_tokens',
    ),
    outputTokens: counted(USAGE_ATTRIBUTES.output, 'output', 'completion_tokens'),
    reasoningTokens: counted(USAGE_ATTRIBUTES.reasoning, 'output_reasoning_tokens', 'reasoning_tokens'),
    costUsd: firstNumber(attributes, ...USAGE_ATTRIBUTES.cost) ?? firstNumber(costs, 'total'),
  };
  return Object.values(usage).every((value) => value === null) ? null : usage;
}

/** Sampling parameters; null unless the temperature is known. */
function findSampling(attributes: Attributes): WireStep['sampling'] | null {
  const parameters = {
    ...langfuseObject(attributes, 'model.parameters'),
    ...invocationParameters(attributes),
  };
  const request = (name: string) =>
    firstNumber(attributes, `gen_ai.request.${name}`) ?? looseNumber(parameters[name]);
  return statedSampling({
    temperature: request('temperature') ?? firstNumber(attributes, 'ai.settings.temperature'),
    topK: request('top_k'),
    topP: request('top_p'),
    maxNewTokens: request('max_tokens') ?? request('max_completion_tokens'),
  });
}

/** Token ids as agent-lightning's tracers and LiteLLM's proxy in front of vLLM write them; no convention has a name for them. */
function findTokens(attributes: Attributes): CallTokens | null {
  const prompt = readIds(attributes['prompt_token_ids'] ?? attributes['llm.hosted_vllm.prompt_token_ids']);
  const completion =
    readIds(attributes['response_token_ids'] ?? attributes['llm.hosted_vllm.response_token_ids']) ??
    readIds(asObject([looseJson(attributes['llm.hosted_vllm.choices'])].flat()[0]).token_ids);
  if (prompt === null || completion === null) return null;
  const logprobs = contentLogprobs(looseJson(attributes['logprobs.content']), completion.length);
  return { prompt, completion, logprobs, version: null };
}

/** Ids in a list, a list in a list, or either as text. */
function readIds(value: unknown): readonly number[] | null {
  const parsed = looseJson(value);
  const ids = asIds(Array.isArray(parsed) && Array.isArray(parsed[0]) ? parsed[0] : parsed);
  return ids?.length ? ids : null;
}

function findToolResult(attributes: Attributes): WireMessage | null {
  const result =
    attributes['gen_ai.tool.call.result'] ??
    attributes['ai.toolCall.result'] ??
    langfuseResult(attributes) ??
    openInferenceResult(attributes);
  if (result === undefined || result === null) return null;
  const id = firstText(attributes, 'gen_ai.tool.call.id', 'ai.toolCall.id', 'tool_call.id');
  const content = typeof result === 'string' ? result : writeJson(result);
  return { role: 'tool', content, ...(id === undefined ? {} : { tool_call_id: id }) };
}

function firstText(attributes: Attributes, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = looseText(attributes[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

function firstNumber(attributes: Attributes, ...names: readonly string[]): number | null {
  for (const name of names) {
    const number = looseNumber(attributes[name]);
    if (number !== undefined) return number;
  }
  return null;
}
