import type { Protocol } from '../calls/protocol.js';
import type { LogprobMode, TokenApi } from './token-api.js';

/** A program that serves models, as far as programs differ in what can be asked of them. */
export interface ModelServer {
  /** Hosts on which this program answers, and no other. */
  readonly hosts?: readonly string[];
  /** A route that tells it from others. The proxy asks it without a key, so servers of policies (`apps/cli/src/agents`) answer it to anybody. */
  readonly sign?: ServerSign;
  /** Header in which it takes a key, where that is not `authorization`. */
  readonly keyHeader?: 'x-api-key';
  /** Whether it tells the usage of a stream when it is asked for it. */
  readonly tellsStreamUsage: boolean;
  /** null: it gives no token ids. Else it also takes sampling parameters that a request leaves out from files of its model. */
  readonly tokens: ServedTokens | null;
}

interface ServerSign {
  readonly path: string;
  /** A field that only its answer has. */
  readonly field: string;
  /** Fields of the answer that name directories with its tokenizer, best one first; without them a directory in it is not opened. */
  readonly directories?: readonly string[];
}

/** APIs whose answers have token ids where flags in a request ask for them. */
type FlaggedApi = Extract<Protocol['name'], 'chat-completions' | 'completions'>;

/** Token ids and log-probabilities that a server gives when it is asked for them. */
export interface ServedTokens {
  /** How it samples and scores tokens from tokens. */
  readonly api: TokenApi;
  /** Fields of a request that ask for token ids with `true`, each with the fields of an answer that it brings: the proxy hides them where it asked. */
  readonly idFlags: Readonly<Record<FlaggedApi, Readonly<Record<string, readonly string[]>>>>;
  /** Whether responses of OpenAI's API have them, which `enable_response_messages` asks for. */
  readonly areInResponses: boolean;
  /** Whether log-probabilities are before temperature (`raw`) or after it, unless it was started otherwise. */
  readonly logprobMode: LogprobMode;
  /** Most texts that may end a turn; null: any number. */
  readonly maxStopStrings: number | null;
  /** Whether it serves several models, each under a name that requests give. */
  readonly servesByName: boolean;
  /** Whether a running one takes other weights, which its entry in `DELIVERIES` of `libs/endpoints/src/servers/token-servers.ts` delivers. */
  readonly takesWeights: boolean;
  /** Whether it takes LoRA adapters beside its model. */
  readonly takesAdapters: boolean;
}
