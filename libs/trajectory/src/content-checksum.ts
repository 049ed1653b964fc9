import { hash } from 'node:crypto';
import type { AnyEvent, Json } from './events.js';

/** Measured, not chosen: a step recorded again after a retry differs in these and is still the same step. */
const VOLATILE_FIELDS: ReadonlySet<string> = new Set(['generationMs', 'environmentMs']);

const CHECKSUM_DIGITS = 32;

/**
 * Identity of an event's content, in 32 hex digits: SHA-256, cut to 128 bits, over kind, run, episode, seq and payload.
 *
 * Left out are `occurredAtUs`, the latencies (`generationMs`, `environmentMs`) and where the event lies (`logId`). Fields and
 * keys count in sorted order and arrays by their bytes, so neither the producer nor the wire format matters. Two events
 * with one (run, episode, kind, seq) and unlike checksums are a conflict.
 */
export function contentChecksum(event: AnyEvent): string {
  const { kind, runId, episodeId, seq, payload } = event;
  const text = JSON.stringify([kind, runId, episodeId, seq, canonical(payload)]);
  return hash('sha256', text, 'hex').slice(0, CHECKSUM_DIGITS);
}

function canonical(payload: object): Json {
  const fields = Object.entries(payload)
    .filter(([name]) => !VOLATILE_FIELDS.has(name))
    .sort(byName);
  return fields.map(([name, value]) => [name, canonicalValue(value)]);
}

function canonicalValue(value: unknown): Json {
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return [value.constructor.name, bytes.toString('base64')];
  }
  if (Array.isArray(value)) return value.map(canonicalValue);
  if (value === null || typeof value !== 'object') return value as Json;
  return Object.entries(value)
    .sort(byName)
    .map(([name, inner]) => [name, canonicalValue(inner)]);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
