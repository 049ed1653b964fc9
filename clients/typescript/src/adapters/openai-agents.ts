import type { EndFields, Episode, EpisodeOptions } from '../episode.js';
import type { Run } from '../run.js';
import type { ChatMessage, JsonObject } from '../wire/records.js';
import { chatMessage, contentOf } from './chat-message.js';
import { RecordedAgent, type ModelCall } from './recorded-agent.js';
import { messagesOfItems, outputOfItems, partsOf, type ResponsesItem } from './responses-messages.js';

/** A span of the OpenAI Agents SDK, by the fields that are read here. */
interface AgentsSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly error: { readonly message: string; readonly data?: Readonly<Record<string, unknown>> } | null;
  readonly spanData: SpanFields;
}

interface SpanFields {
  readonly type: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly model?: string;
  readonly model_config?: Readonly<Record<string, unknown>>;
  readonly usage?: unknown;
  readonly mcp_data?: unknown;
  readonly from_agent?: string;
  readonly to_agent?: string;
  readonly _input?: string | readonly ResponsesItem[];
  readonly _response?: ResponseFields;
}

interface ResponseFields {
  readonly model?: string;
  readonly instructions?: unknown;
  readonly output?: readonly ResponsesItem[];
  readonly previous_response_id?: string | null;
  readonly conversation?: unknown;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly usage?: unknown;
  readonly status?: string;
}

interface AgentsTrace {
  readonly traceId: string;
  readonly name: string;
  readonly groupId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** An agent that begins. */
export interface AgentsStart {
  readonly traceId: string;
  readonly spanId: string;
  readonly agentName: string;
}

export interface AgentsRecorderOptions {
  /** Tags, task, group and so on of the episode that begins. */
  readonly describe?: (start: AgentsStart) => EpisodeOptions;
  /** Receives each episode as it begins, to reward it later. */
  readonly onEpisode?: (episode: Episode, start: AgentsStart) => void;
}

/** A trace processor of the OpenAI Agents SDK that records. */
export interface AgentsRecorder {
  onTraceStart(trace: AgentsTrace): Promise<void>;
  onTraceEnd(trace: AgentsTrace): Promise<void>;
  onSpanStart(span: AgentsSpan): Promise<void>;
  onSpanEnd(span: AgentsSpan): Promise<void>;
  shutdown(timeout?: number): Promise<void>;
  forceFlush(): Promise<void>;
}

/**
 * Records what the OpenAI Agents SDK does: `addTraceProcessor(recordOpenAiAgents(run))`.
 *
 * Each activation of an agent is an episode and each call of a model a step. The episode of an agent that is called as a tool, or that
 * a handoff goes to, names the one that it came from. An agent that ends with an error is `abandoned`, one that runs out of turns
 * `truncated`.
 */
export function recordOpenAiAgents(run: Run, options: AgentsRecorderOptions = {}): AgentsRecorder {
  const traces = new Map<string, RecordedTrace>();
  const done = Promise.resolve();
  const traceOf = (traceId: string) => {
    const known = traces.get(traceId);
    if (known) return known;
    const added = new RecordedTrace(run, options, {});
    traces.set(traceId, added);
    return added;
  };
  return {
    onTraceStart({ traceId, name, groupId, metadata }) {
      const told = { workflow: name, ...(groupId && { groupId }), ...(metadata as JsonObject | undefined) };
      traces.set(traceId, new RecordedTrace(run, options, told));
      return done;
    },
    onTraceEnd({ traceId }) {
      traces.get(traceId)?.end();
      traces.delete(traceId);
      return done;
    },
    onSpanStart(span) {
      traceOf(span.traceId).begin(span);
      return done;
    },
    onSpanEnd(span) {
      traceOf(span.traceId).finish(span);
      return done;
    },
    shutdown: () => done,
    forceFlush: () => done,
  };
}

/** One trace: its spans by id, and the agents among them. */
class RecordedTrace {
  private readonly parents = new Map<string, string | null>();
  private readonly agents = new Map<string, RecordedAgent>();
  /** Episodes that handed over, by the agent that they handed over to. */
  private readonly handoffs = new Map<string, RecordedAgent>();
  private readonly handedOver = new Map<RecordedAgent, string>();

  constructor(
    private readonly run: Run,
    private readonly options: AgentsRecorderOptions,
    private readonly metadata: JsonObject,
  ) {}

  begin({ traceId, spanId, parentId, spanData }: AgentsSpan): void {
    this.parents.set(spanId, parentId);
    if (spanData.type !== 'agent') return;
    const agentName = spanData.name ?? 'agent';
    const from = this.handoffs.get(agentName) ?? this.agentAbove(parentId);
    this.handoffs.delete(agentName);
    const start = { traceId, spanId, agentName };
    const agent = new RecordedAgent(this.run, {
      agent: agentName,
      externalId: `${traceId}/${spanId}`,
      metadata: { traceId, ...this.metadata },
      ...(from && { parentEpisode: from.episode.id }),
      ...this.options.describe?.(start),
    });
    this.agents.set(spanId, agent);
    this.options.onEpisode?.(agent.episode, start);
  }

  finish(span: AgentsSpan): void {
    const { spanData, error } = span;
    const agent = this.agentAbove(span.spanId);
    if (!agent) return;
    switch (spanData.type) {
      case 'agent':
        agent.end(endOf(error, this.handedOver.get(agent)));
        break;
      case 'response':
        if (spanData._response) agent.modelAnswered(responseCall(span, spanData._response));
        break;
      case 'generation':
        if (spanData.output !== undefined) agent.modelAnswered(generationCall(span));
        break;
      case 'function':
        agent.toolEnded(toolRun(span), typeof spanData.output === 'string' ? spanData.output : '');
        break;
      case 'handoff':
        if (spanData.to_agent === undefined) break;
        this.handoffs.set(spanData.to_agent, agent);
        this.handedOver.set(agent, spanData.to_agent);
    }
  }

  end(): void {
    for (const agent of this.agents.values()) {
      agent.end({ endReason: 'abandoned', detail: 'the trace ended before the agent' });
    }
  }

  /** The agent of a span, or of the nearest span above it. */
  private agentAbove(spanId: string | null): RecordedAgent | undefined {
    for (let id = spanId; id !== null; id = this.parents.get(id) ?? null) {
      const agent = this.agents.get(id);
      if (agent) return agent;
    }
    return undefined;
  }
}

function responseCall(span: AgentsSpan, response: ResponseFields): ModelCall {
  const { instructions, output, previous_response_id, conversation, status } = response;
  const system =
    typeof instructions === 'string' ? [chatMessage({ role: 'system', content: instructions })] : [];
  // The provider holds what came before: the input is only what is new.
  const isDelta = previous_response_id != null || conversation != null;
  const prompt = messagesOfItems(span.spanData._input);
  return {
    prompt: isDelta ? prompt : [...system, ...prompt],
    isDelta,
    output: outputOfItems(output),
    model: response.model ?? '',
    engine: 'openai.responses',
    ...callFields(span, response.usage, { temperature: response.temperature, top_p: response.top_p }),
    ...(status !== undefined && { finishReason: status }),
  };
}

interface Completion {
  readonly model?: string;
  readonly choices?: readonly { readonly message?: ChatMessage; readonly finish_reason?: string }[];
  readonly usage?: unknown;
}

/** A call of the chat completions API: input and output have its own shapes. */
function generationCall(span: AgentsSpan): ModelCall {
  const { input, output, model, model_config, usage } = span.spanData;
  const [completion] = (Array.isArray(output) ? output : []) as (Completion & Partial<ChatMessage>)[];
  const choice = completion?.choices?.[0];
  const message =
    choice?.message ?? (completion?.role === undefined ? undefined : (completion as ChatMessage));
  return {
    prompt: (Array.isArray(input) ? (input as ChatMessage[]) : []).map(plainMessage),
    output: message ? plainMessage(message) : null,
    model: completion?.model ?? model ?? '',
    engine: 'openai.chat',
    ...callFields(span, completion?.usage ?? usage, model_config),
    ...(choice?.finish_reason !== undefined && { finishReason: choice.finish_reason }),
  };
}

/** A message of chat completions, whose content the SDK may have written as parts. */
function plainMessage(message: ChatMessage): ChatMessage {
  return chatMessage({ ...message, content: contentOf(partsOf(message.content)) });
}

function callFields(
  span: AgentsSpan,
  usage: unknown,
  { temperature, top_p }: Readonly<Record<string, unknown>> = {},
): Pick<ModelCall, 'usage' | 'sampling' | 'generationMs'> {
  const counts = (usage ?? {}) as Readonly<Record<string, unknown>>;
  const detail = (...names: string[]) =>
    names.map((name) => (counts[name] ?? {}) as Readonly<Record<string, unknown>>);
  const [inputDetails, promptDetails] = detail('input_tokens_details', 'prompt_tokens_details');
  const [outputDetails, completionDetails] = detail('output_tokens_details', 'completion_tokens_details');
  return {
    usage: {
      inputTokens: numberOf(counts.input_tokens, counts.prompt_tokens),
      cachedInputTokens: numberOf(inputDetails.cached_tokens, promptDetails.cached_tokens),
      outputTokens: numberOf(counts.output_tokens, counts.completion_tokens),
      reasoningTokens: numberOf(outputDetails.reasoning_tokens, completionDetails.reasoning_tokens),
    },
    ...(typeof temperature === 'number' && {
      sampling: { temperature, ...(typeof top_p === 'number' && { topP: top_p }) },
    }),
    ...durationOf(span),
  };
}

function numberOf(...values: readonly unknown[]): number | null {
  return values.find((value) => typeof value === 'number') ?? null;
}

function durationOf({ startedAt, endedAt }: AgentsSpan): { generationMs?: number } {
  if (startedAt === null || endedAt === null) return {};
  return { generationMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) };
}

function toolRun(span: AgentsSpan): Parameters<RecordedAgent['toolEnded']>[0] {
  const { name = 'tool', mcp_data } = span.spanData;
  const server = (mcp_data as { readonly server?: unknown } | undefined)?.server;
  return {
    name,
    ms: durationOf(span).generationMs ?? 0,
    ...(span.error && { error: errorDetail(span.error) }),
    ...(typeof server === 'string' && { mcpServer: server }),
  };
}

function endOf(error: AgentsSpan['error'], handedOverTo: string | undefined): EndFields {
  if (error) {
    const detail = errorDetail(error);
    return { endReason: /max turns/i.test(detail) ? 'truncated' : 'abandoned', detail };
  }
  return handedOverTo === undefined
    ? { endReason: 'terminated' }
    : { endReason: 'terminated', detail: `handed off to ${handedOverTo}` };
}

function errorDetail({ message, data }: NonNullable<AgentsSpan['error']>): string {
  const told = data?.error;
  return typeof told === 'string' && told !== message ? `${message}: ${told}` : message;
}
