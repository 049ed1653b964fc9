import type { ServerQuestion } from '../calls/server-question.js';

/** A message of a conversation, as text. */
export interface TextMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A tool that a model may call. */
export interface ChatTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema of the arguments, whose `type` is "object". */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A call of a tool that a model answered with. */
export interface CalledTool {
  readonly id: string;
  readonly name: string;
  /** A JSON object as text, as the model wrote it. */
  readonly arguments: string;
}

export interface ChatRequest {
  readonly messages: readonly TextMessage[];
  readonly temperature: number;
  /** 1 = off. */
  readonly topP: number;
  /** Asks for temperature 0. */
  readonly greedy: boolean;
  readonly maxNewTokens: number;
  /** Texts that end the turn; the answer does not contain them. */
  readonly stopStrings: readonly string[];
  readonly tools: readonly ChatTool[];
}

export interface ChatReply {
  readonly content: string;
  readonly toolCalls: readonly CalledTool[];
  /** `length`: at `maxNewTokens`. */
  readonly stopReason: 'stop' | 'length';
  /** The model that answered, as the server names it; '' where it does not. */
  readonly model: string;
  /** Tokens as the server counted them; null where it does not. */
  readonly usage: ChatUsage | null;
}

export interface ChatUsage {
  /** With those that came from a cache. */
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
  /** With those of reasoning. */
  readonly outputTokens: number | null;
  readonly reasoningTokens: number | null;
}

/** The requests by which a kind of API answers a conversation with text, and the answers. */
export interface TextApi {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxTemperature: number;
  /** Fields for the longest answer, the usual one first: the next one is tried where a server refuses a request and names it. */
  readonly lengthFields: readonly string[];
  ask(model: string, request: ChatRequest, lengthField: string): ServerQuestion<ChatReply>;
}

/** English text has about four characters a token. */
const CHARACTERS_PER_TOKEN = 4;

/** Estimates the tokens of a request with its longest answer, as servers do that limit tokens a minute. */
export function estimateTokens({ messages, maxNewTokens }: ChatRequest): number {
  const numCharacters = messages.reduce((sum, { content }) => sum + content.length, 0);
  return Math.ceil(numCharacters / CHARACTERS_PER_TOKEN) + maxNewTokens;
}
