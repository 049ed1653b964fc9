/**
 * Checks that memory is flat over a long run of the default recipe: the anonymous resident memory of every child process, and the
 * number of tensors of collector and trainer. After the first third, which warms up caches and heaps, the means of the next and the
 * last sixth of the samples may differ by at most 10 % or 64 MiB, whichever is more, and the number of tensors not at all.
 *
 *   npm run test:long -- memory [-- --minutes 30]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, root, startRetrace } from '../support/cli.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const durationMs = Number(values.minutes) * 60_000;
const sampleEveryMs = Math.max(1000, durationMs / 180);
const ALLOWED_GROWTH = 0.1;
const ALLOWED_GROWTH_MI_B = 64;
const directory = makeDataDirectory();
const port = await findFreePort();
const session = startRetrace([
  'up',
  '--recipe',
  'frozen-lake-ppo',
  '--updates',
  '1000000',
  '--port',
  String(port),
  '--data-dir',
  directory.path,
]);
await session.waitFor(/update 1 /, 300_000);

/** Returns the anonymous memory of a process, MiB: the memory that a leak grows, without mapped files. */
function anonymousMiB(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

const pids = session.roles();
const samples = Object.fromEntries(Object.keys(pids).map((role) => [role, []]));
const startedAt = performance.now();
while (performance.now() - startedAt < durationMs) {
  await sleep(sampleEveryMs);
  for (const [role, pid] of Object.entries(pids)) samples[role].push(anonymousMiB(pid));
}
const tensors = JSON.parse(
  execFileSync(
    process.execPath,
    [
      join(root, 'apps', 'cli', 'bin', 'retrace.mjs'),
      'sql',
      "SELECT name, uniqExact(value) AS counts, max(value) AS most FROM metrics WHERE name LIKE 'memory/%' AND step > 5 GROUP BY name ORDER BY name",
      '--format',
      'json',
      '--data-dir',
      directory.path,
    ],
    { encoding: 'utf8' },
  ),
);
const restarted = Object.entries(session.roles()).filter(([role, pid]) => pids[role] !== pid);
await session.stop('SIGINT');
directory.remove();

const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
const figures = [];
let passed = restarted.length === 0;
for (const [role, list] of Object.entries(samples)) {
  const sixth = Math.floor(list.length / 6);
  const early = mean(list.slice(2 * sixth, 3 * sixth));
  const late = mean(list.slice(-sixth));
  const flat = late - early <= Math.max(ALLOWED_GROWTH * early, ALLOWED_GROWTH_MI_B);
  if (!flat) passed = false;
  console.log(`${role.padEnd(10)} ${early.toFixed(0)} → ${late.toFixed(0)} MiB${flat ? '' : '  GROWS'}`);
  figures.push({ name: `${role}: anonymous memory after a third of the time`, value: early, unit: 'MiB' });
  figures.push({ name: `${role}: anonymous memory at the end`, value: late, unit: 'MiB' });
}
for (const { name, counts, most } of tensors) {
  if (Number(counts) !== 1) passed = false;
  console.log(`${name}: ${most} (${counts} different counts)`);
  figures.push({ name: `${name}: different counts after update 5`, value: Number(counts) });
}
if (process.env.RETRACE_RESULT_FILE) {
  const title = `Memory over ${values.minutes} minutes of the default recipe`;
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = passed ? 0 : 1;
