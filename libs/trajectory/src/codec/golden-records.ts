import type { AnyEvent } from '../events/event.js';
import { sampleEvents } from '../testing/sample-events.js';
import { encodeEvent } from './encode-event.js';

/** A record that the current code writes, with the name of its golden file: `Kind.vN`. */
export interface GoldenRecord {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly event: AnyEvent;
}

/** Creates one record of every kind at its current version; `test/golden/events/generate.mjs` writes those that are missing. */
export function goldenRecords(): GoldenRecord[] {
  return sampleEvents()
    .map(withExperts)
    .map((event) => ({
      name: `${event.kind}.v${event.schemaVersion}`,
      bytes: encodeEvent(event),
      event,
    }));
}

/** Two experts a token in a step, whose sample has none. */
function withExperts(event: AnyEvent): AnyEvent {
  if (event.kind !== 'StepRecorded') return event;
  const tokenRoutedExperts = Int32Array.from(
    { length: 2 * event.payload.tokenIds.length },
    (_, i) => (i * 7) % 300,
  );
  return { ...event, payload: { ...event.payload, tokenRoutedExperts } };
}

/** Converts an event to JSON in which typed arrays are objects: `{ "Float32Array": [0, "NaN"] }`. */
export function goldenJson(event: AnyEvent): unknown {
  const text = JSON.stringify(event, (_key, value: unknown) =>
    ArrayBuffer.isView(value)
      ? { [value.constructor.name]: Array.from(value as Float64Array, (n) => (Number.isNaN(n) ? 'NaN' : n)) }
      : value,
  );
  return JSON.parse(text);
}
