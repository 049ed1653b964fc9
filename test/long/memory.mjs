/**
 * Checks that memory is flat over a long run of the default recipe: the anonymous resident memory of every child process
 * (`role-memory.mjs` says what flat is), and the number of tensors of collector and trainer, which may not change at all.
 *
 *   npm run test:long -- memory [-- --minutes 30]
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, root, startRetrace } from '../support/cli.mjs';
import { RoleMemory } from '../support/role-memory.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const durationMs = Number(values.minutes) * 60_000;
const sampleEveryMs = Math.max(1000, durationMs / 180);
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
  // Tensors are counted by process, and those of validations come and go.
  '--set',
  'process.colocateValidator=false',
]);
await session.waitFor(/update 1 /, 300_000);

const memory = new RoleMemory(session, { everyMs: sampleEveryMs });
await sleep(durationMs);
const { isFlat, figures } = await memory.stop();
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
const restarted = Object.entries(session.roles()).filter(([role, pid]) => memory.pids[role] !== pid);
await session.stop('SIGINT');
directory.remove();

let passed = isFlat && restarted.length === 0;
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
