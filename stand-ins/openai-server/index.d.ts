/** A request, the same for all APIs. */
export interface ModelRequest {
  readonly api: 'chat' | 'completions' | 'responses' | 'messages';
  readonly model: string;
  readonly stream: boolean;
  /** The body as it came. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Messages (chat; messages, with the system prompt first), input items (responses), or the prompt as one message (completions). */
  readonly input: readonly Readonly<Record<string, unknown>>[];
  /** The last user's text. */
  readonly question: string;
  /** Texts of the results of tools, in order. */
  readonly toolResults: readonly string[];
  /** Names of the tools that may be called. */
  readonly toolNames: readonly string[];
}

/** An answer of the model; `status` other than 200 makes it an error with `content` as its message. */
export interface ModelReply {
  readonly content?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments: unknown;
  }[];
  readonly finishReason?: 'stop' | 'length';
  readonly status?: number;
  readonly delayMs?: number;
  /** Ends a streamed answer in its middle. */
  readonly breaks?: boolean;
  /** Pause after each event of a streamed answer. */
  readonly betweenMs?: number;
}

export interface OpenAiServer {
  /** Ends with `/v1`. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/** Number of tokens that the server counts in a text: its words. */
export function countTokens(text: string): number;

/**
 * Starts a server on loopback that speaks chat completions, responses and messages, streamed or not; `reply` is the model. As `vllm` it
 * speaks completions too, and gives token ids and log-probabilities when they are asked for.
 */
export function startOpenAiServer(
  reply: (request: ModelRequest) => ModelReply | Promise<ModelReply>,
  options?: { readonly port?: number; readonly engine?: 'openai' | 'vllm' },
): Promise<OpenAiServer>;
