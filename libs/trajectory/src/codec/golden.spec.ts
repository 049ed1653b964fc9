import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EVENT_KINDS, SCHEMA_VERSIONS } from '../events/event-kinds.js';
import { goldenJson, goldenRecords } from './golden-records.js';
import { decodeEvent, encodeEvent } from './index.js';

/** Records as former versions wrote them, beside the event that they hold; see the README there. */
const directory = fileURLToPath(new URL('../../../../test/golden/events/', import.meta.url));
const names = readdirSync(directory)
  .filter((name) => name.endsWith('.bin'))
  .map((name) => name.slice(0, -'.bin'.length));

describe('golden records', () => {
  it.each(names)('%s decodes to the event in its golden JSON', (name) => {
    const decoded = decodeEvent(readFileSync(`${directory}${name}.bin`));
    if (!decoded.ok) throw new Error(`golden record ${name} no longer decodes: ${decoded.reason}`);
    const expected: unknown = JSON.parse(readFileSync(`${directory}${name}.json`, 'utf8'));
    expect(goldenJson(decoded.event)).toEqual(expected);
  });

  it.each(EVENT_KINDS)(
    'of the newest version of %s equal what the current code writes, byte by byte',
    (kind) => {
      const bytes = readFileSync(`${directory}${kind}.v${SCHEMA_VERSIONS[kind]}.bin`);
      const decoded = decodeEvent(bytes);
      expect(decoded.ok && bytes.equals(encodeEvent(decoded.event))).toBe(true);
    },
  );

  it.each(EVENT_KINDS)('exist for every version of %s', (kind) => {
    for (let version = 1; version <= SCHEMA_VERSIONS[kind]; version++) {
      const advice =
        `${kind} has a schema version ${version} and no golden record of it, so nothing would notice if it stopped ` +
        'decoding. Run "npm run build", then "node test/golden/events/generate.mjs", and commit the files it adds';
      expect(names.includes(`${kind}.v${version}`), advice).toBe(true);
    }
  });

  it('exist for every kind', () => {
    expect(goldenRecords().map(({ event }) => event.kind)).toEqual(expect.arrayContaining([...EVENT_KINDS]));
  });
});
