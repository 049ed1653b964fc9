import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EVENT_KINDS, SCHEMA_VERSIONS } from '../event-kinds.js';
import type { AnyEvent } from '../events.js';
import { sampleEvents } from '../sample-events.js';
import { decodeEvent, encodeEvent } from './index.js';

/**
 * Records as former versions wrote them, beside what they say. They are never changed: logs on disk hold their like.
 * For a new schema version, run with UPDATE_GOLDEN=1: it adds the files that are missing and leaves the others alone.
 */
const directory = fileURLToPath(new URL('../../../../test/golden/events/', import.meta.url));

/** JSON with typed arrays spelled out: `{ "Float32Array": [0, "NaN"] }`. */
function toJson(event: AnyEvent): unknown {
  const text = JSON.stringify(event, (_key, value: unknown) =>
    ArrayBuffer.isView(value)
      ? { [value.constructor.name]: Array.from(value as Float64Array, (n) => (Number.isNaN(n) ? 'NaN' : n)) }
      : value,
  );
  return JSON.parse(text);
}

if (process.env['UPDATE_GOLDEN'] === '1') {
  mkdirSync(directory, { recursive: true });
  for (const event of sampleEvents()) {
    const path = `${directory}${event.kind}.v${event.schemaVersion}`;
    if (existsSync(`${path}.bin`)) continue;
    writeFileSync(`${path}.bin`, encodeEvent(event));
    writeFileSync(`${path}.json`, `${JSON.stringify(toJson(event), null, 2)}\n`);
  }
}

const files = readdirSync(directory).filter((name) => name.endsWith('.bin'));

describe('golden records', () => {
  it.each(files)('%s decodes to what it has always said', (name) => {
    const decoded = decodeEvent(readFileSync(directory + name));
    if (!decoded.ok) throw new Error(decoded.reason);
    const expected: unknown = JSON.parse(readFileSync(directory + name.replace('.bin', '.json'), 'utf8'));
    expect(toJson(decoded.event)).toEqual(expected);
  });

  it('are there for every version of every kind', () => {
    const expected = EVENT_KINDS.flatMap((kind) =>
      Array.from({ length: SCHEMA_VERSIONS[kind] }, (_, i) => `${kind}.v${i + 1}.bin`),
    );
    expect([...files].sort()).toEqual(expected.sort());
  });
});
