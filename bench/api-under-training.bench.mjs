/**
 * While the default recipe trains on all cores: how fast the API lists episodes, and whether appends to the log are held up.
 *
 *   npm run bench -- api-under-training [-- --seconds 60]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newControlEvent, newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { openLmdbLog } from '@retrace/trajectory/lmdb';
import { findFreePort, makeDataDirectory, startRetrace } from '../test/support/cli.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const directory = makeDataDirectory();
const port = await findFreePort();
const session = startRetrace([
  'up',
  '--recipe',
  'frozen-lake-ppo',
  '--updates',
  '100000',
  '--port',
  String(port),
  '--data-dir',
  directory.path,
]);
await session.waitFor(/update 20 /, 300_000);
const api = `http://127.0.0.1:${port}/api`;
const { items } = await (await fetch(`${api}/runs`)).json();
const runId = items[0].runId;
const log = await openLmdbLog({ path: join(directory.path, 'log'), createdBy: 'bench' });
const event = newControlEvent({
  kind: 'MetricsLogged',
  logId: log.logId,
  runId: newRunId(),
  occurredAtUs: Date.now() * 1000,
  payload: { source: 'system', step: 0, names: ['bench/append'], values: Float64Array.of(1) },
});
const record = encodeEvent(event);

const listMs = [];
const appendMs = [];
const until = performance.now() + Number(values.seconds) * 1000;
while (performance.now() < until) {
  let started = performance.now();
  const response = await fetch(`${api}/runs/${runId}/episodes?limit=50`);
  const page = await response.json();
  if (response.status !== 200 || page.items.length !== 50)
    throw new Error(`episode list: ${response.status}`);
  listMs.push(performance.now() - started);
  started = performance.now();
  await log.append('control', 0, [record]);
  appendMs.push(performance.now() - started);
  await sleep(100);
}
await log.close();
await session.stop('SIGINT');
directory.remove();

const percentile = (list, q) =>
  list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];
const figures = [
  { name: `episode list, p50 of ${listMs.length}`, value: percentile(listMs, 0.5), unit: 'ms' },
  { name: 'episode list, p99', value: percentile(listMs, 0.99), unit: 'ms' },
  { name: 'durable append of one event, p50', value: percentile(appendMs, 0.5), unit: 'ms' },
  { name: 'durable append of one event, p99', value: percentile(appendMs, 0.99), unit: 'ms' },
];
for (const { name, value, unit } of figures) console.log(`${name.padEnd(40)} ${value.toFixed(1)} ${unit}`);
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'API and log while a policy trains on all cores';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = percentile(listMs, 0.99) < 200 ? 0 : 1;
