import type { EndFields, Episode, EpisodeOptions } from '../episode.js';
import type { Run } from '../run.js';
import type { ChatMessage, Sampling, TokenUsage } from '../wire/records.js';
import { chatMessage, errorText, jsonText, resultText } from './chat-message.js';
import { fromLangChain, type LangChainMessage } from './langchain-messages.js';
import { RecordedAgent, type ModelCall } from './recorded-agent.js';

/** An agent that begins: the outermost chain, graph or model, or the one that a tool or a node starts. */
export interface LangChainStart {
  /** LangChain's id of the run, which is the episode's id as well. */
  readonly runId: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface LangChainRecorderOptions {
  /** Tags, task, group and so on of the episode that begins. */
  readonly describe?: (start: LangChainStart) => EpisodeOptions;
  /** Receives each episode as it begins, to reward it later. */
  readonly onEpisode?: (episode: Episode, start: LangChainStart) => void;
}

type Metadata = Readonly<Record<string, unknown>>;
type Serialized = { readonly id?: readonly string[]; readonly name?: string } | undefined;

interface LlmResult {
  readonly generations: readonly (readonly { readonly text?: string; readonly message?: AnswerMessage }[])[];
}

interface AnswerMessage extends LangChainMessage {
  readonly usage_metadata?: {
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly input_token_details?: { readonly cache_read?: number };
    readonly output_token_details?: { readonly reasoning?: number };
  };
  readonly response_metadata?: Readonly<Record<string, unknown>>;
}

/** A run of LangChain while it lasts. */
interface RunNode {
  readonly parentId: string | undefined;
  readonly kind: 'chain' | 'tool' | 'model';
  readonly name: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly startedAtMs: number;
  /** The episode of this run, if it is the outermost of an agent that called a model. */
  agent?: RecordedAgent;
  prompt?: readonly ChatMessage[];
  sampling?: Sampling;
  model?: string;
  callId?: string;
}

/**
 * Records what LangChain.js and LangGraph do, as a callback handler: `agent.invoke(input, { callbacks: [recordLangChain(run)] })`.
 *
 * The outermost run is an episode, with the same id, and each call of a chat model a step. A graph or a model inside a tool, or a graph
 * inside a node of another, is a sub-agent: an episode of its own, which names the one around it. A run with an error ends `abandoned`,
 * a graph that reaches its recursion limit `truncated`.
 */
export function recordLangChain(run: Run, options: LangChainRecorderOptions = {}): LangChainRecorder {
  return new LangChainRecorder(run, options);
}

/** A handler of LangChain's callbacks. LangChain calls its methods, in order, and waits for none. */
export class LangChainRecorder {
  readonly name = 'retrace';
  readonly awaitHandlers = true;
  readonly raiseError = false;
  readonly ignoreLLM = false;
  readonly ignoreChain = false;
  /** Also switches the callbacks of tools. */
  readonly ignoreAgent = false;
  readonly ignoreRetriever = true;
  readonly ignoreCustomEvent = true;
  private readonly nodes = new Map<string, RunNode>();

  constructor(
    private readonly run: Run,
    private readonly options: LangChainRecorderOptions,
  ) {}

  /** The same handler serves copies of a callback manager. */
  copy(): this {
    return this;
  }

  handleChainStart(
    chain: Serialized,
    _inputs: unknown,
    runId: string,
    parentRunId?: string,
    tags: readonly string[] = [],
    metadata: Metadata = {},
    _runType?: string,
    runName?: string,
  ): void {
    this.begin(runId, {
      parentId: parentRunId,
      kind: 'chain',
      name: runName ?? nameOf(chain),
      tags,
      metadata,
    });
  }

  handleChainEnd(_outputs: unknown, runId: string): void {
    this.finish(runId, { endReason: 'terminated' });
  }

  handleChainError(error: unknown, runId: string): void {
    this.finish(runId, endOfError(error));
  }

  handleToolStart(
    tool: Serialized,
    _input: string,
    runId: string,
    parentRunId?: string,
    tags: readonly string[] = [],
    metadata: Metadata = {},
    runName?: string,
    toolCallId?: string,
  ): void {
    const name = runName ?? nameOf(tool);
    this.begin(runId, {
      parentId: parentRunId,
      kind: 'tool',
      name,
      tags,
      metadata,
      ...(toolCallId && { callId: toolCallId }),
    });
  }

  handleToolEnd(output: unknown, runId: string): void {
    this.toolEnded(runId, toolText(output), undefined);
  }

  handleToolError(error: unknown, runId: string): void {
    this.toolEnded(runId, errorText(error), error);
  }

  handleChatModelStart(
    llm: Serialized,
    messages: readonly (readonly LangChainMessage[])[],
    runId: string,
    parentRunId?: string,
    extraParams: Readonly<Record<string, unknown>> = {},
    tags: readonly string[] = [],
    metadata: Metadata = {},
    runName?: string,
  ): void {
    this.modelStarted(runId, parentRunId, extraParams, {
      name: runName ?? nameOf(llm),
      tags,
      metadata,
      prompt: (messages[0] ?? []).map(fromLangChain),
    });
  }

  handleLLMStart(
    llm: Serialized,
    prompts: readonly string[],
    runId: string,
    parentRunId?: string,
    extraParams: Readonly<Record<string, unknown>> = {},
    tags: readonly string[] = [],
    metadata: Metadata = {},
    runName?: string,
  ): void {
    const prompt = [chatMessage({ role: 'user', content: prompts[0] ?? '' })];
    this.modelStarted(runId, parentRunId, extraParams, {
      name: runName ?? nameOf(llm),
      tags,
      metadata,
      prompt,
    });
  }

  handleLLMEnd(result: LlmResult, runId: string): void {
    const node = this.nodes.get(runId);
    const generation = result.generations[0]?.[0];
    if (node && generation) this.agentOf(runId)?.modelAnswered(answeredCall(node, generation));
    this.finish(runId, { endReason: 'terminated' });
  }

  handleLLMError(error: unknown, runId: string): void {
    this.finish(runId, endOfError(error));
  }

  private modelStarted(
    runId: string,
    parentId: string | undefined,
    extraParams: Readonly<Record<string, unknown>>,
    told: Pick<RunNode, 'name' | 'tags' | 'metadata' | 'prompt'>,
  ): void {
    const params = (extraParams.invocation_params ?? {}) as Readonly<Record<string, unknown>>;
    const model = params.model ?? params.model_name;
    this.begin(runId, {
      parentId,
      kind: 'model',
      ...told,
      ...(typeof model === 'string' && { model }),
      ...samplingOf(params),
    });
    this.beginEpisode(runId);
  }

  private begin(runId: string, node: Omit<RunNode, 'startedAtMs'>): void {
    this.nodes.set(runId, { ...node, startedAtMs: performance.now() });
  }

  /** Begins the episode of the agent that a run belongs to, and of those around it, unless they have begun. */
  private beginEpisode(runId: string): RecordedAgent {
    const outermost = this.outermostOf(runId);
    const node = this.nodes.get(outermost);
    if (node?.agent) return node.agent;
    const around = node?.parentId === undefined ? undefined : this.beginEpisode(node.parentId);
    const { name = 'agent', tags = [], metadata = {} } = node ?? {};
    const start = { runId: outermost, name, tags, metadata };
    const agent = new RecordedAgent(this.run, {
      id: outermost,
      agent: name,
      tags: tags.filter((tag) => !tag.includes(':')),
      ...(around && { parentEpisode: around.episode.id }),
      ...this.options.describe?.(start),
    });
    if (node) node.agent = agent;
    this.options.onEpisode?.(agent.episode, start);
    return agent;
  }

  /** The run that is an agent of its own and holds this one: the outermost, a run that a tool started, or a graph in a node of another. */
  private outermostOf(runId: string): string {
    for (let id = runId; ;) {
      const node = this.nodes.get(id);
      const parentId = node?.parentId;
      const parent = parentId === undefined ? undefined : this.nodes.get(parentId);
      if (!node || !parent || parentId === undefined) return id;
      if (parent.kind === 'tool' && node.kind !== 'tool') return id;
      const depth = graphDepth(parent.metadata);
      if (depth > 0 && graphDepth(node.metadata) > depth) return parentId;
      id = parentId;
    }
  }

  private agentOf(runId: string): RecordedAgent | undefined {
    return this.nodes.get(this.outermostOf(runId))?.agent;
  }

  private toolEnded(runId: string, result: string, error: unknown): void {
    const node = this.nodes.get(runId);
    if (!node) return;
    const mcpServer = mcpServerOf(node.metadata);
    this.agentOf(runId)?.toolEnded(
      {
        name: node.name,
        ms: performance.now() - node.startedAtMs,
        ...(node.callId !== undefined && { callId: node.callId }),
        ...(error !== undefined && { error: errorText(error) }),
        ...(mcpServer !== undefined && { mcpServer }),
      },
      result,
    );
    this.nodes.delete(runId);
  }

  private finish(runId: string, fields: EndFields): void {
    this.nodes.get(runId)?.agent?.end(fields);
    this.nodes.delete(runId);
  }
}

/** How many graphs a run is inside of: LangGraph names the nodes from the outermost to the innermost, with bars between them. */
function graphDepth({ langgraph_checkpoint_ns: namespace }: Metadata): number {
  return typeof namespace === 'string' && namespace !== '' ? namespace.split('|').length : 0;
}

function answeredCall(
  node: RunNode,
  { message, text }: { readonly message?: AnswerMessage; readonly text?: string },
): ModelCall {
  const { model_name, model, finish_reason } = message?.response_metadata ?? {};
  const provider = node.metadata.ls_provider;
  const answered = [model_name, model, node.model].find((name) => typeof name === 'string');
  return {
    prompt: node.prompt ?? [],
    output: message ? fromLangChain(message) : chatMessage({ role: 'assistant', content: text ?? '' }),
    model: typeof answered === 'string' ? answered : '',
    engine: typeof provider === 'string' ? provider : '',
    usage: usageOf(message?.usage_metadata),
    generationMs: performance.now() - node.startedAtMs,
    ...(node.sampling && { sampling: node.sampling }),
    ...(typeof finish_reason === 'string' && { finishReason: finish_reason }),
  };
}

function usageOf(usage: AnswerMessage['usage_metadata']): TokenUsage {
  return {
    inputTokens: usage?.input_tokens ?? null,
    cachedInputTokens: usage?.input_token_details?.cache_read ?? null,
    outputTokens: usage?.output_tokens ?? null,
    reasoningTokens: usage?.output_token_details?.reasoning ?? null,
  };
}

/** A temperature that the caller left to the server is not known. */
function samplingOf({ temperature, top_p, top_k, max_tokens }: Readonly<Record<string, unknown>>): {
  sampling?: Sampling;
} {
  if (typeof temperature !== 'number') return {};
  return {
    sampling: {
      temperature,
      ...(typeof top_p === 'number' && { topP: top_p }),
      ...(typeof top_k === 'number' && { topK: top_k }),
      ...(typeof max_tokens === 'number' && { maxNewTokens: max_tokens }),
    },
  };
}

/** A tool gives text, any value, or a message. */
function toolText(output: unknown): string {
  if (typeof output !== 'object' || output === null || !('content' in output)) return resultText(output);
  const { content } = fromLangChain(output as LangChainMessage);
  return typeof content === 'string' ? content : jsonText(content);
}

function mcpServerOf({ mcp_server, mcpServer }: Metadata): string | undefined {
  const name = mcp_server ?? mcpServer;
  return typeof name === 'string' ? name : undefined;
}

function endOfError(error: unknown): EndFields {
  const isLimit = error instanceof Error && error.name === 'GraphRecursionError';
  return { endReason: isLimit ? 'truncated' : 'abandoned', detail: errorText(error) };
}

function nameOf(serialized: Serialized): string {
  return serialized?.name ?? serialized?.id?.at(-1) ?? 'agent';
}
