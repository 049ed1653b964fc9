import { nowUs, type EndFields, type Episode, type EpisodeOptions } from '../episode.js';
import type { Run } from '../run.js';
import type { ChatMessage, JsonObject, Sampling, TokenUsage } from '../wire/records.js';
import { Conversation } from './conversation.js';

/** A tool that the agent called between two calls of the model. */
export interface ToolRun extends JsonObject {
  readonly name: string;
  readonly callId?: string;
  readonly ms: number;
  readonly error?: string;
  /** Name of the MCP server whose tool it is. */
  readonly mcpServer?: string;
}

/** One call of a model, when it has been answered or has failed. */
export interface ModelCall {
  /** The whole prompt, or with `isDelta` what is new in it. */
  readonly prompt: readonly ChatMessage[];
  readonly isDelta?: boolean;
  /** null: the framework was told not to record it, or the call failed. */
  readonly output: ChatMessage | null;
  /** Why the call failed: it has a prompt and no answer. */
  readonly error?: string;
  readonly model: string;
  readonly engine: string;
  readonly usage?: TokenUsage;
  readonly sampling?: Sampling;
  readonly generationMs?: number;
  readonly finishReason?: string;
  /** Definitions of the tools that it offered, as its API takes them; undefined where they are not known. */
  readonly offeredTools?: readonly JsonObject[];
}

/**
 * One activation of an agent as an episode: each call of a model is a step, with the messages that it added. A step is recorded once
 * the tools that it called have ended, since they are a part of it: when the next call begins, or the agent ends.
 */
export class RecordedAgent {
  readonly episode: Episode;
  private readonly conversation = new Conversation();
  private pending: (ModelCall & { readonly occurredAt: number }) | null = null;
  private tools: ToolRun[] = [];
  /** Of the call before, as JSON. */
  private offeredTools = '[]';
  private answeredAtMs = 0;
  /** From the answer of the model to the end of its last tool: tools run beside each other. */
  private environmentMs = 0;
  /** Results of tools that no later prompt has shown. */
  private unseenResults: string[] = [];

  constructor(run: Run, options: EpisodeOptions) {
    this.episode = run.episode(options);
  }

  modelAnswered(call: ModelCall): void {
    this.recordPending();
    this.pending = { ...call, occurredAt: nowUs() };
    this.answeredAtMs = performance.now();
  }

  toolEnded(tool: ToolRun, result: string): void {
    this.tools.push(tool);
    this.environmentMs = performance.now() - this.answeredAtMs;
    this.unseenResults.push(result);
  }

  /** Ends the episode. Results of tools that no model has seen are its last observation. */
  end(fields: EndFields): void {
    const unseen = this.unseenResults;
    this.recordPending();
    this.episode.end({ ...(unseen.length > 0 && { finalObservation: unseen.join('\n') }), ...fields });
  }

  private recordPending(): void {
    const call = this.pending;
    this.pending = null;
    if (call === null) return;
    const { prompt, output, model, engine, usage, sampling, generationMs, finishReason, error } = call;
    const { input, keptMessages } = call.isDelta
      ? { input: prompt, keptMessages: null }
      : this.conversation.next(prompt);
    if (output) this.conversation.add(output);
    const hasNewTools = this.hasNewTools(call.offeredTools);
    const info = {
      ...(finishReason !== undefined && { finishReason }),
      ...(keptMessages !== null && { keptMessages }),
      ...(hasNewTools && { toolDefinitions: call.offeredTools }),
      ...(error !== undefined && { error: { message: error } }),
      ...(this.tools.length > 0 && { tools: this.tools }),
    };
    this.episode.step({
      messages: { input, output },
      model,
      engine,
      occurredAt: call.occurredAt,
      ...(usage && { usage }),
      ...(sampling && { sampling }),
      ...(generationMs !== undefined && { generationMs }),
      ...(this.tools.length > 0 && { environmentMs: this.environmentMs }),
      ...(Object.keys(info).length > 0 && { info }),
      ...(error !== undefined && { untrainable: 'the call failed' }),
    });
    this.tools = [];
    this.unseenResults = [];
  }

  /** Whether the tools are others than those of the call before; they are recorded where they change. */
  private hasNewTools(offered: ModelCall['offeredTools']): boolean {
    if (offered === undefined) return false;
    const before = this.offeredTools;
    this.offeredTools = JSON.stringify(offered);
    return this.offeredTools !== before;
  }
}
