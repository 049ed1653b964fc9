import type { EndFields } from '../episode.js';
import type { Run } from '../run.js';
import type { JsonObject } from '../wire/records.js';
import { chatMessage, errorText } from './chat-message.js';
import {
  answeredCall,
  failedCall,
  type LlmResult,
  findMcpServer,
  readSampling,
  toolText,
} from './langchain-calls.js';
import { fromLangChain, type LangChainMessage } from './langchain-messages.js';
import {
  type LangChainRecorderOptions,
  LangChainRuns,
  type Metadata,
  type RunNode,
} from './langchain-runs.js';

export type { LangChainRecorderOptions, LangChainStart } from './langchain-runs.js';

type Serialized = { readonly id?: readonly string[]; readonly name?: string } | undefined;

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
  private readonly runs: LangChainRuns;

  constructor(run: Run, options: LangChainRecorderOptions) {
    this.runs = new LangChainRuns(run, options);
  }

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
    this.runs.begin(runId, {
      parentId: parentRunId,
      kind: 'chain',
      name: runName ?? makeName(chain),
      tags,
      metadata,
    });
  }

  handleChainEnd(_outputs: unknown, runId: string): void {
    this.runs.finish(runId, { endReason: 'terminated' });
  }

  handleChainError(error: unknown, runId: string): void {
    this.runs.finish(runId, endOfError(error));
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
    const name = runName ?? makeName(tool);
    this.runs.begin(runId, {
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
      name: runName ?? makeName(llm),
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
      name: runName ?? makeName(llm),
      tags,
      metadata,
      prompt,
    });
  }

  handleLLMEnd(result: LlmResult, runId: string): void {
    const node = this.runs.find(runId);
    const generation = result.generations[0]?.[0];
    if (node && generation) this.runs.agentOf(runId)?.modelAnswered(answeredCall(node, generation));
    this.runs.finish(runId, { endReason: 'terminated' });
  }

  handleLLMError(error: unknown, runId: string): void {
    const node = this.runs.find(runId);
    if (node) this.runs.agentOf(runId)?.modelAnswered(failedCall(node, error));
    this.runs.finish(runId, endOfError(error));
  }

  private modelStarted(
    runId: string,
    parentId: string | undefined,
    extraParams: Readonly<Record<string, unknown>>,
    told: Pick<RunNode, 'name' | 'tags' | 'metadata' | 'prompt'>,
  ): void {
    const params = (extraParams.invocation_params ?? {}) as Readonly<Record<string, unknown>>;
    const model = params.model ?? params.model_name;
    this.runs.begin(runId, {
      parentId,
      kind: 'model',
      ...told,
      ...(typeof model === 'string' && { model }),
      ...readSampling(params),
      offeredTools: Array.isArray(params.tools) ? (params.tools as readonly JsonObject[]) : [],
    });
    this.runs.beginEpisode(runId);
  }

  private toolEnded(runId: string, result: string, error: unknown): void {
    const node = this.runs.find(runId);
    if (!node) return;
    const mcpServer = findMcpServer(node.metadata);
    this.runs.agentOf(runId)?.toolEnded(
      {
        name: node.name,
        ms: performance.now() - node.startedAtMs,
        ...(node.callId !== undefined && { callId: node.callId }),
        ...(error !== undefined && { error: errorText(error) }),
        ...(mcpServer !== undefined && { mcpServer }),
      },
      result,
    );
    this.runs.forget(runId);
  }
}

function endOfError(error: unknown): EndFields {
  const isLimit = error instanceof Error && error.name === 'GraphRecursionError';
  return { endReason: isLimit ? 'truncated' : 'abandoned', detail: errorText(error) };
}

function makeName(serialized: Serialized): string {
  return serialized?.name ?? serialized?.id?.at(-1) ?? 'agent';
}
