import type { ChatMessage, JsonObject, Sampling, TokenUsage } from '@retrace/client';
import type { SseEvent } from '../sse/sse-event.js';

/** Values that a server samples with where a request leaves them out; it takes those that are missing here from files of its model. */
export type SamplingDefaults = Readonly<
  Partial<Record<'temperature' | 'top_p' | 'top_k' | 'min_p' | 'repetition_penalty', number>>
>;

export interface PromptAndSampledTokens {
  /** The whole prompt. */
  readonly promptIds: readonly number[];
  readonly sampledIds: readonly number[];
  /** One for each sampled token, in nats; null where the server did not tell. */
  readonly logprobs: readonly (number | null)[] | null;
}

/** One call of a model, as its protocol's reader understood it. null = unknown. */
export interface RecordedCall {
  readonly model: string | null;
  /** The whole conversation that was sent, system message first. A text prompt is one message of role `user`. */
  readonly prompt: readonly ChatMessage[];
  readonly tools: readonly JsonObject[] | null;
  /** The first choice; null when the call failed. */
  readonly output: ChatMessage | null;
  /** Choices beyond the first (n > 1). */
  readonly otherOutputs: readonly ChatMessage[];
  readonly finishReason: string | null;
  readonly usage: TokenUsage | null;
  /** How the answer was sampled; null where a parameter of it is unknown. */
  readonly sampling: Sampling | null;
  /** Parameters that the request stated, where it left others to a server that takes them from its model. */
  readonly statedSampling?: JsonObject;
  readonly tokens: PromptAndSampledTokens | null;
  readonly weightVersion: string | null;
  readonly responseId: string | null;
  readonly error: { readonly status: number; readonly message: string } | null;
  /** The output ends before the answer does: the client went away, the stream broke, or a part of it could not be read or never came. */
  readonly isCut: boolean;
  /** The first thing that is missing inside of the answer: an event, a field, or tokens that its usage counts. */
  readonly hole?: string;
  /** A reason why no update may train on it, if the protocol knows one: sampling that `sampling` can't express. */
  readonly untrainable?: string;
}

/** A request, as its answer's reader needs it. */
export interface ReadRequest {
  readonly asked: JsonObject;
  readonly prompt: readonly ChatMessage[];
  /** Sampling of the server where the request leaves it out. */
  readonly defaults: SamplingDefaults;
}

/** A call between its request and its answer. */
export interface OpenCall {
  /** The conversation that the request sends, as `RecordedCall.prompt` will have it. */
  readonly prompt: readonly ChatMessage[];
  read(answer: { readonly status: number; readonly body: JsonObject }): RecordedCall;
  reader(): StreamReader;
}

/** Collects the events of one streamed answer. */
export interface StreamReader {
  add(event: SseEvent): void;
  /** @param isComplete whether the stream came to its end */
  finish(isComplete: boolean): RecordedCall;
}

/** One API of models: reads its requests and answers. */
export interface Protocol {
  readonly name: 'chat-completions' | 'completions' | 'responses' | 'messages';
  /** @param defaults what the server samples with where the request leaves it out */
  open(body: JsonObject, defaults: SamplingDefaults): OpenCall;
}
