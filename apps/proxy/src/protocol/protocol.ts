import type { ChatMessage, JsonObject, Sampling, TokenUsage } from '@retrace/client';

/** Programs that answer, as far as they differ in what can be asked of them; `other` is asked for nothing in addition. */
export type UpstreamKind = 'vllm' | 'sglang' | 'openai' | 'anthropic' | 'other';

/** Values that a server samples with where a request leaves them out; it takes those that are missing here from files of its model. */
export type SamplingDefaults = Readonly<
  Partial<Record<'temperature' | 'top_p' | 'top_k' | 'min_p' | 'repetition_penalty', number>>
>;

/** Whether a server gives token ids and log-probabilities when it is asked for them. */
export function hasTokens(kind: UpstreamKind): boolean {
  return kind === 'vllm' || kind === 'sglang';
}

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

/** One server-sent event; the lines of its data are joined by newlines. */
export interface SseEvent {
  readonly event: string | null;
  readonly data: string;
}

/** A call between its request and its answer. */
export interface PreparedCall {
  /** The conversation that the request sends, as `RecordedCall.prompt` will have it. */
  readonly prompt: readonly ChatMessage[];
  /** Body for the upstream: the client's, plus what was asked for in addition. The same object when nothing was added. */
  readonly body: JsonObject;
  readonly isStream: boolean;
  /** Whether something was added that the client must not see. If not, bytes pass untouched. */
  readonly hides: boolean;
  /** The answer as the client asked for it. */
  hide(answer: JsonObject): JsonObject;
  /**
   * The events to pass on after this one, as the client asked for them: the same object when nothing is hidden in it, none when all of it is or it waits for
   * the next one. null: the end of the stream.
   */
  hideEvent(event: SseEvent | null): readonly SseEvent[];
  read(answer: { readonly status: number; readonly body: JsonObject }): RecordedCall;
  reader(): StreamReader;
}

/** Collects the events of one streamed answer. */
export interface StreamReader {
  add(event: SseEvent): void;
  /** @param isComplete whether the stream came to its end */
  finish(isComplete: boolean): RecordedCall;
}

/** One API of models: reads its requests and answers, and asks for more than the client did where the upstream can give it. */
export interface Protocol {
  readonly name: 'chat-completions' | 'completions' | 'responses' | 'messages';
  /** @param defaults what the upstream samples with where the request leaves it out; by default, what is known of its kind */
  prepare(body: JsonObject, upstream: UpstreamKind, defaults?: SamplingDefaults): PreparedCall;
}
