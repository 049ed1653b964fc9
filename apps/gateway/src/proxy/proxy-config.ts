import type { IncomingHttpHeaders } from 'node:http';
import type { JsonValue } from '@retrace/client';
import type { LogprobMode, ModelServerKind } from '@retrace/chat';
import type { ListenConfig } from '../http/gateway-server.js';

/** The answer to a request that is refused. */
export interface CallRefusal {
  readonly status: number;
  readonly body: JsonValue;
}

export interface ProxyConfig extends ListenConfig {
  /** Address of the model server, with or without `/v1` at its end. */
  readonly upstream: string;
  /** null: found by asking the server. */
  readonly upstreamKind: ModelServerKind | null;
  /** Key that the proxy sends in place of an agent's, where the agent sends none or `retrace:<episode>`. */
  readonly upstreamKey: string | null;
  /** Longest silence of the upstream in an answer, after which its call is given up. */
  readonly upstreamTimeoutMs: number;
  /** Says why a request is refused, before anything of it is passed on or recorded; null for one that is not. Default: none is. */
  readonly refusalOf?: (headers: IncomingHttpHeaders) => Promise<CallRefusal | null>;
  readonly retraceUrl: string;
  readonly retraceKey: string | null;
  /** Run that calls are recorded in which name none. */
  readonly run: string;
  /** Directory of the journal and the spool, on a local disk. */
  readonly stateDirectory: string;
  /** Episodes are ended after so long without a call. */
  readonly idleMs: number;
  /** A request whose body is larger passes without being recorded. */
  readonly maxBodyBytes: number;
  /** Whether the engine's log-probabilities are after temperature; null: as the engine's defaults are. */
  readonly logprobMode: LogprobMode | null;
  /** Whether vLLM and SGLang are asked for neutral sampling where a request leaves a parameter out, which they would take from files of their model; default false. */
  readonly neutralSampling?: boolean;
  /** Directory of the model, or its `tokenizer.json`, whose tokenizer the upstream has; none: as the upstream tells, if it does. */
  readonly tokenizer?: string;
}

/** A tokenizer on this machine. */
export interface LocalTokenizer {
  /** Its identity, which steps name and training compares. */
  readonly hash: string;
  /** Ids of a text without special tokens around it. */
  encode(text: string): readonly number[];
}

/** Opens the tokenizer of a model directory, or of a `tokenizer.json`. Rejects where there is none. */
export type OpenTokenizer = (path: string) => Promise<LocalTokenizer>;
