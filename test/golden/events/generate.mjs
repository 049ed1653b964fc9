/**
 * Adds the golden records that are missing: for every kind of event at the schema version that this code writes, the record
 * (`Kind.vN.bin`) and the event in it (`Kind.vN.json`). A record that is there is never written again.
 *
 * After a new schema version it also brings the `.json` of the kind's older records up to that version, with the values that
 * `.since(version, before)` declares, and says so: read that difference before you commit it.
 *
 *   npm run build && node test/golden/events/generate.mjs
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { goldenJson, goldenRecords } from '../../../libs/trajectory/dist/codec/golden-records.js';
import { decodeEvent } from '../../../libs/trajectory/dist/codec/decode-event.js';

const directory = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {string} name
 * @param {Parameters<typeof goldenJson>[0]} event
 */
function writeExpected(name, event) {
  writeFileSync(`${directory}${name}.json`, `${JSON.stringify(goldenJson(event), null, 2)}\n`);
}

for (const { name, bytes, event } of goldenRecords()) {
  if (existsSync(`${directory}${name}.bin`)) continue;
  writeFileSync(`${directory}${name}.bin`, bytes);
  writeExpected(name, event);
  console.log(`${name}: added`);
}

for (const file of readdirSync(directory).filter((entry) => entry.endsWith('.bin'))) {
  const name = file.slice(0, -'.bin'.length);
  const decoded = decodeEvent(readFileSync(directory + file));
  if (!decoded.ok) throw new Error(`${file} does not decode: ${decoded.reason}`);
  /** @type {{ schemaVersion: number }} */
  const expected = JSON.parse(readFileSync(`${directory}${name}.json`, 'utf8'));
  if (expected.schemaVersion === decoded.event.schemaVersion) continue;
  writeExpected(name, decoded.event);
  console.log(`${name}: is read as version ${decoded.event.schemaVersion} now; check the difference`);
}
