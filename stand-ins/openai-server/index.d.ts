/** A request, the same for both APIs. */
export interface ModelRequest {
  readonly api: 'chat' | 'responses';
  readonly model: string;
  readonly stream: boolean;
  /** The body as it came. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Messages (chat) or input items (responses). */
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
}

export interface OpenAiServer {
  /** Ends with `/v1`. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/** Number of tokens that the server counts in a text: its words. */
export function countTokens(text: string): number;

/** Starts a server on loopback that speaks chat completions and responses, streamed or not; `reply` is the model. */
export function startOpenAiServer(
  reply: (request: ModelRequest) => ModelReply | Promise<ModelReply>,
  options?: { readonly port?: number },
): Promise<OpenAiServer>;
