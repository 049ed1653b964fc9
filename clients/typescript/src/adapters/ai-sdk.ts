import type { EndFields, Episode, EpisodeOptions } from '../episode.js';
import type { Run } from '../run.js';
import type { JsonObject, Sampling } from '../wire/records.js';
import {
  outputMessage,
  promptMessages,
  toolOutputText,
  type AiSdkInstructions,
  type AiSdkMessage,
  type AiSdkPart,
} from './ai-sdk-messages.js';
import { errorText } from './chat-message.js';
import { NestedAgents } from './nested-agents.js';
import { RecordedAgent, type ToolRun } from './recorded-agent.js';

/** The first call of a model in a `generateText` or `streamText`. */
export interface AiSdkStart {
  readonly callId: string;
  readonly provider: string;
  readonly modelId: string;
  /** `telemetry.functionId` of the call. */
  readonly functionId?: string;
}

export interface AiSdkRecorderOptions {
  /** Tags, task, group and so on of the episode that begins. */
  readonly describe?: (start: AiSdkStart) => EpisodeOptions;
  /** Receives each episode as it begins, to reward it later. */
  readonly onEpisode?: (episode: Episode, start: AiSdkStart) => void;
}

interface ModelCallStart extends AiSdkStart {
  readonly instructions?: AiSdkInstructions;
  readonly messages?: readonly AiSdkMessage[];
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  /** As a provider takes them; a provider's own have another type and no schema. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

interface ModelCallEnd extends AiSdkStart {
  readonly finishReason: string;
  readonly content?: readonly AiSdkPart[];
  readonly usage: {
    readonly inputTokens?: number;
    readonly inputTokenDetails?: { readonly cacheReadTokens?: number };
    readonly outputTokens?: number;
    readonly outputTokenDetails?: { readonly reasoningTokens?: number };
  };
  readonly performance?: { readonly responseTimeMs?: number };
}

interface ToolExecutionEnd {
  readonly callId: string;
  readonly toolCall: {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly toolMetadata?: unknown;
  };
  readonly toolExecutionMs: number;
  readonly toolOutput?: AiSdkPart;
}

interface CallEnd {
  readonly callId: string;
  readonly finishReason?: string;
  readonly reason?: unknown;
  readonly error?: unknown;
}

/** The hooks of the AI SDK's `Telemetry` that record. */
export interface AiSdkRecorder {
  onLanguageModelCallStart(event: ModelCallStart): void;
  onLanguageModelCallEnd(event: ModelCallEnd): void;
  onToolExecutionEnd(event: ToolExecutionEnd): void;
  /** Refuses version 6, whose events name no call. */
  onStart(event: unknown): void;
  onEnd(event: unknown): void;
  onAbort(event: CallEnd): void;
  onError(event: unknown): void;
  /** Refuse versions 5 and 6, which take a tracer. */
  startSpan(): never;
  startActiveSpan(): never;
  executeTool<Result>(options: {
    readonly callId: string;
    readonly execute: () => PromiseLike<Result>;
  }): PromiseLike<Result>;
}

/**
 * Records what the Vercel AI SDK 7 does: register it with `registerTelemetry(recordAiSdk(run))`, or give it to one call as
 * `telemetry: { integrations: [recordAiSdk(run)] }`.
 *
 * Versions 5 and 6 are refused, with how to trace them. Each `generateText` or `streamText` is an episode and each call of a model a step. A call inside a tool is a sub-agent: its episode
 * names the one that called it. A call with an error or an abort ends `abandoned`, with the prompt of the call that failed, one that hits a limit `truncated`.
 */
export function recordAiSdk(run: Run, options: AiSdkRecorderOptions = {}): AiSdkRecorder {
  refuseInstalledVersion();
  const nested = new NestedAgents();
  const agents = new Map<string, OpenAgent>();
  const end = (callId: string, fields: EndFields) => {
    agents.get(callId)?.agent.end(fields);
    agents.delete(callId);
  };
  const fail = (callId: string, error: string) => {
    const known = agents.get(callId);
    if (known?.isAsking === true) recordFailure(known, error);
    end(callId, { endReason: 'abandoned', detail: error });
  };
  return {
    onLanguageModelCallStart(event) {
      const known = agents.get(event.callId);
      if (known) {
        known.call = event;
        known.isAsking = true;
        return;
      }
      const agent = new RecordedAgent(run, {
        agent: event.functionId ?? 'agent',
        externalId: event.callId,
        ...(nested.parentEpisode !== undefined && { parentEpisode: nested.parentEpisode }),
        ...options.describe?.(event),
      });
      agents.set(event.callId, { agent, call: event, isAsking: true });
      options.onEpisode?.(agent.episode, event);
    },
    onLanguageModelCallEnd(event) {
      const known = agents.get(event.callId);
      if (!known) return;
      known.isAsking = false;
      recordCall(known.agent, known.call, event);
    },
    onToolExecutionEnd(event) {
      const { toolOutput } = event;
      agents
        .get(event.callId)
        ?.agent.toolEnded(toToolRun(event), toolOutput ? toolOutputText(toolOutput) : '');
    },
    onEnd(event) {
      const { callId, finishReason } = event as CallEnd;
      end(callId, toEnd(finishReason));
    },
    onAbort({ callId, reason }) {
      fail(callId, reason === undefined ? 'aborted' : `aborted: ${errorText(reason)}`);
    },
    onError(event) {
      const { callId, error } = event as CallEnd;
      fail(callId, errorText(error));
    },
    ...EARLIER_VERSIONS,
    executeTool({ callId, execute }) {
      const known = agents.get(callId);
      return known ? nested.runTool(known.agent.episode.id, execute) : execute();
    },
  };
}

interface OpenAgent {
  readonly agent: RecordedAgent;
  call: ModelCallStart;
  /** Whether the call has not been answered. */
  isAsking: boolean;
}

function recordFailure({ agent, call }: OpenAgent, error: string): void {
  agent.modelAnswered({
    prompt: promptMessages(call.instructions, call.messages),
    output: null,
    error,
    model: call.modelId,
    engine: call.provider,
    ...toSampling(call),
    offeredTools: (call.tools ?? []).map(readDefinition),
  });
}

function toToolRun({ toolCall, toolExecutionMs, toolOutput }: ToolExecutionEnd): ToolRun {
  const mcpServer = readMcpServer(toolCall.toolMetadata);
  return {
    name: toolCall.toolName,
    callId: toolCall.toolCallId,
    ms: toolExecutionMs,
    ...(toolOutput?.type === 'tool-error' && { error: errorText(toolOutput.error) }),
    ...(mcpServer !== undefined && { mcpServer }),
  };
}

/** The hooks that earlier versions call, none of which says which call it is about. */
const EARLIER_VERSIONS: Pick<AiSdkRecorder, 'onStart' | 'startSpan' | 'startActiveSpan'> = {
  onStart(event) {
    // Version 7 gives each call an id; without one, steps can't be told apart from those of other calls.
    if ((event as Partial<CallEnd>).callId === undefined) refuseVersion('version 6');
  },
  startSpan: () => refuseVersion('version 5 or 6'),
  startActiveSpan: () => refuseVersion('version 5 or 6'),
};

/**
 * Refuses version 5 and older, which take no integrations and call none of the hooks: recording would be silent. Programs that have several
 * versions, and those whose packages can't be found, as in a bundle, are taken.
 */
function refuseInstalledVersion(): void {
  const versions = installedVersions();
  const isOld = versions.every((version) => Number.parseInt(version) < FIRST_VERSION);
  if (versions.length > 0 && isOld) refuseVersion(`version ${versions[0]}`);
}

/** Versions of `ai` that the program's directory and this package find. */
function installedVersions(): string[] {
  // No import, since browsers have no such module.
  const node = typeof process === 'undefined' ? undefined : process.getBuiltinModule?.('node:module');
  if (node === undefined) return [];
  return [`${process.cwd()}/`, import.meta.url].flatMap((from) => {
    try {
      const { version } = node.createRequire(from)('ai/package.json') as { readonly version?: unknown };
      return typeof version === 'string' ? [version] : [];
    } catch {
      return [];
    }
  });
}

const FIRST_VERSION = 7;
let hasRefused = false;

/** Says that a version is not recorded: versions before 7 hide what their hooks throw. @throws Error */
function refuseVersion(version: string): never {
  const message = `recordAiSdk records the AI SDK from version 7, and this is ${version}: trace it by OpenTelemetry instead (experimental_telemetry; Retrace takes the spans at /v1/traces), or upgrade "ai"`;
  if (!hasRefused) console.warn(message);
  hasRefused = true;
  throw new Error(message);
}

function recordCall(agent: RecordedAgent, call: ModelCallStart, answer: ModelCallEnd): void {
  const { usage, content, finishReason, performance, modelId, provider } = answer;
  agent.modelAnswered({
    prompt: promptMessages(call.instructions, call.messages),
    output: outputMessage(content),
    model: modelId,
    engine: provider,
    usage: {
      inputTokens: usage.inputTokens ?? null,
      cachedInputTokens: usage.inputTokenDetails?.cacheReadTokens ?? null,
      outputTokens: usage.outputTokens ?? null,
      reasoningTokens: usage.outputTokenDetails?.reasoningTokens ?? null,
    },
    ...toSampling(call),
    offeredTools: (call.tools ?? []).map(readDefinition),
    ...(performance?.responseTimeMs !== undefined && { generationMs: performance.responseTimeMs }),
    finishReason,
  });
}

/** A tool in OpenAI's shape. */
function readDefinition(tool: Readonly<Record<string, unknown>>): JsonObject {
  const { name, description, inputSchema: parameters } = tool as JsonObject;
  if (tool.type !== 'function') return tool as JsonObject;
  return {
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  };
}

/** A temperature that the caller left to the server is not known. */
function toSampling({ temperature, topK, topP, maxOutputTokens }: ModelCallStart): { sampling?: Sampling } {
  if (temperature === undefined) return {};
  return {
    sampling: {
      temperature,
      ...(topK !== undefined && { topK }),
      ...(topP !== undefined && { topP }),
      ...(maxOutputTokens !== undefined && { maxNewTokens: maxOutputTokens }),
    },
  };
}

function readMcpServer(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('clientName' in metadata)) return undefined;
  return typeof metadata.clientName === 'string' ? metadata.clientName : undefined;
}

function toEnd(finishReason: string | undefined): EndFields {
  switch (finishReason) {
    case 'length':
      return { endReason: 'truncated', detail: 'the answer reached its limit of tokens' };
    case 'tool-calls':
      return { endReason: 'truncated', detail: 'ended while the model still called tools' };
    case 'content-filter':
      return { endReason: 'truncated', detail: 'the answer was filtered' };
    case 'error':
      return { endReason: 'abandoned', detail: 'the model answered with an error' };
    default:
      return { endReason: 'terminated' };
  }
}
