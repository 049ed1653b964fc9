import type { AnyEvent } from '../events/event.js';
import { sampleEvents } from '../testing/sample-events.js';
import { encodeEvent } from './encode-event.js';

/** A record as today's code writes it, named as its golden file: `Kind.vN`. */
export interface GoldenRecord {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly event: AnyEvent;
}

/** One record of every kind at its current version: what `test/golden/events/generate.mjs` writes where there is none yet. */
export function goldenRecords(): GoldenRecord[] {
  return sampleEvents().map((event) => ({
    name: `${event.kind}.v${event.schemaVersion}`,
    bytes: encodeEvent(event),
    event,
  }));
}

/** The event as JSON with typed arrays spelled out: `{ "Float32Array": [0, "NaN"] }`. */
export function goldenJson(event: AnyEvent): unknown {
  const text = JSON.stringify(event, (_key, value: unknown) =>
    ArrayBuffer.isView(value)
      ? { [value.constructor.name]: Array.from(value as Float64Array, (n) => (Number.isNaN(n) ? 'NaN' : n)) }
      : value,
  );
  return JSON.parse(text);
}
