/** An OpenTelemetry span after decoding, whatever it came in. */
export interface OtelSpan {
  /** Hexadecimal. */
  readonly traceId: string;
  readonly spanId: string;
  /** null = a root. */
  readonly parentId: string | null;
  readonly name: string;
  readonly startUs: number | undefined;
  /** undefined = it has not ended. */
  readonly endUs: number | undefined;
  readonly attributes: Attributes;
  /** Attributes that the SDK left out, as there were too many (default 0). */
  readonly numDroppedAttributes?: number;
  readonly events: readonly OtelEvent[];
  readonly isError: boolean;
  readonly statusMessage: string;
  /** Place in its trace where the source numbers spans, else 0. */
  readonly sequence: number;
  readonly service: string;
}

export interface OtelEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

/** Attribute values as JSON: texts, numbers, booleans, lists and objects. */
export type Attributes = Readonly<Record<string, unknown>>;
