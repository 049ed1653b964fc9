/** A program that serves models, as far as programs differ in what can be asked of them. */
export interface ModelServer {
  /** Hosts on which this program answers, and no other. */
  readonly hosts?: readonly string[];
  /** A route that tells it from others, and the field that its answer then has. */
  readonly sign?: { readonly path: string; readonly field: string };
  /** Whether it tells the usage of a stream when it is asked for it. */
  readonly tellsStreamUsage: boolean;
  /** null: it gives no token ids. Else it also takes sampling parameters that a request leaves out from files of its model. */
  readonly tokens: ServedTokens | null;
}

/** Token ids and log-probabilities that a server gives when it is asked for them. */
export interface ServedTokens {
  /** Fields of (chat) completions that ask for token ids with `true`. */
  readonly idFlags: readonly string[];
  /** Whether responses of OpenAI's API have them, which `enable_response_messages` asks for. */
  readonly areInResponses: boolean;
  /** Whether log-probabilities are before temperature (`raw`) or after it, unless it was started otherwise. */
  readonly logprobMode: 'raw' | 'processed';
  /** Most texts that may end a turn; null: any number. */
  readonly maxStopStrings: number | null;
  /** Whether it serves several models, each under a name that requests give. */
  readonly servesByName: boolean;
  /** Whether it takes LoRA adapters beside its model. */
  readonly takesAdapters: boolean;
}
