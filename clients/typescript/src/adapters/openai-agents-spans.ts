import type { JsonObject } from '../wire/records.js';
import type { ResponsesItem } from './responses-messages.js';

/** A span of the OpenAI Agents SDK, by the fields that are read here. */
export interface AgentsSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly error: { readonly message: string; readonly data?: Readonly<Record<string, unknown>> } | null;
  readonly spanData: SpanFields;
}

interface SpanFields {
  readonly type: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly model?: string;
  readonly model_config?: Readonly<Record<string, unknown>>;
  readonly usage?: unknown;
  readonly mcp_data?: unknown;
  readonly from_agent?: string;
  readonly to_agent?: string;
  readonly _input?: string | readonly ResponsesItem[];
  readonly _response?: ResponseFields;
}

export interface ResponseFields {
  readonly model?: string;
  readonly instructions?: unknown;
  readonly output?: readonly ResponsesItem[];
  readonly previous_response_id?: string | null;
  readonly conversation?: unknown;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly usage?: unknown;
  readonly status?: string;
  readonly tools?: readonly JsonObject[];
}

export interface AgentsTrace {
  readonly traceId: string;
  readonly name: string;
  readonly groupId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
