import type { LogprobsMode } from '@retrace/chat';
import type { ListenConfig } from '../http/gateway-server.js';

export interface ServeConfig extends ListenConfig {
  /** Directory of the API keys; null: no key is asked for. */
  readonly keyDirectory: string | null;
  /** Answers that are generated at once. */
  readonly concurrency: number;
  /** Answers that wait at most; further requests are refused. */
  readonly maxQueued: number;
  /** Most tokens of a prompt and its answer together; null: as the policy allows, at most 4096. */
  readonly contextLength: number | null;
  readonly maxBodyBytes: number;
  readonly logprobsMode: LogprobsMode;
  /** Whether a request may name any model, because who passes it on has chosen the server by it; default false. */
  readonly takesAnyModel?: boolean;
}
