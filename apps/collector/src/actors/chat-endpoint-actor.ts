import type { CalledTool, ChatReply, ChatTool } from '@retrace/chat';
import type { ChatModel } from '@retrace/endpoints';
import { encodePlain, type PolicyText } from '@retrace/policy';
import type { Json, SamplingParameters } from '@retrace/trajectory';
import { concatTokens } from '../turn/concat-tokens.js';
import type { Turn } from '../turn/turn.js';
import { describeThrown } from '../environment/guarded-environment.js';
import type { ActRequest, Actor, FinishedAct } from '../turn/actor.js';
import { unsampledTurn } from './scripted-actor.js';
import { TurnQueue } from './turn-queue.js';

/** Stored with each step of such a model. */
export const TEXT_ONLY = 'text-only endpoint: no token ids and no logprobs of its model';

export interface ChatEndpointActorOptions {
  readonly model: ChatModel;
  /** Tokenizes the texts that are stored; the model has a tokenizer of its own, which nobody knows. */
  readonly text: PolicyText;
  /** Top-k is no part of these APIs, so it must be 0. */
  readonly sampling: SamplingParameters;
  readonly stopStrings?: readonly string[];
  readonly tools?: readonly ChatTool[];
  readonly signal: AbortSignal;
}

/**
 * A model that answers text with text, as OpenAI's and Anthropic's APIs do. Its turns are stored with the messages and the server's counts
 * of tokens, and no policy gradient may train on them: their logprobs are missing, and their tokens are those of our tokenizer.
 */
export class ChatEndpointActor implements Actor {
  readonly isRemote = true;
  readonly sampling: SamplingParameters;
  /** The server alone knows how long its context is, and refuses what is too long. */
  readonly maxTokens = Number.POSITIVE_INFINITY;
  private readonly turns: TurnQueue;

  constructor(private readonly options: ChatEndpointActorOptions) {
    this.sampling = options.sampling;
    this.turns = new TurnQueue(options.signal);
  }

  request(request: ActRequest): void {
    this.turns.add(request.slot, (ended) => this.ask(request, ended));
  }

  get numPending(): number {
    return this.turns.numPending;
  }

  step(): Promise<readonly FinishedAct[]> {
    return this.turns.next();
  }

  release(slot: number): void {
    this.turns.release(slot);
  }

  private async ask({ slot, messages, greedy }: ActRequest, ended: AbortSignal): Promise<FinishedAct> {
    const { model, sampling, stopStrings = [], tools = [] } = this.options;
    const startedAt = performance.now();
    const { temperature, topP, maxNewTokens } = sampling;
    try {
      const reply = await model.reply(
        {
          ...{ messages, temperature, topP, maxNewTokens, stopStrings, tools },
          greedy: greedy || sampling.greedy,
        },
        ended,
      );
      return { slot, turn: this.turnOf(reply, performance.now() - startedAt) };
    } catch (error) {
      return { slot, failure: { of: 'model', reason: describeThrown(error) } };
    }
  }

  private turnOf(reply: ChatReply, generationMs: number): Turn {
    const { tokenizer } = this.options.text;
    const action = [reply.content, ...reply.toolCalls.map(writeCall)]
      .filter((part) => part !== '')
      .join('\n');
    const written = encodePlain(tokenizer, action);
    const ending = reply.stopReason === 'stop' ? [tokenizer.endOfTurnTokenId] : [];
    return {
      ...unsampledTurn(action, concatTokens(written, Int32Array.from(ending))),
      output: messageOfReply(reply),
      generationMs,
      ...(reply.usage && { usage: { ...reply.usage, costUsd: null } }),
      untrainable: TEXT_ONLY,
    };
  }
}

function messageOfReply({ content, toolCalls }: ChatReply): Json {
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** A call as models without an API for it write it (Hermes, Qwen), so that formats of actions read it. */
function writeCall({ name, arguments: given }: CalledTool): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${given}}\n</tool_call>`;
}
