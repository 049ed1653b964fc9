/**
 * Measures where the time of an update goes: one process and two, with a store and without, and the same loop in memory.
 *
 *   npm run bench -- update-anatomy [-- --recipe NAME --updates N]
 *
 * Every run makes the same updates. Times are those that the run itself records; the processor time of each process is read from `/proc` between two
 * updates; calls that wait for the disk are counted by strace, in a run of their own, since strace slows what it watches.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDataDirectory, root, startRetrace } from '../test/support/cli.mjs';
import { Strace, whyNoStrace } from '../test/support/strace.mjs';
import { FigureTable } from './figure-table.mjs';
import { recordedTimes } from './recorded-times.mjs';

const { values } = parseArgs({
  options: {
    recipe: { type: 'string', default: 'bandit-ppo' },
    updates: { type: 'string', default: '40' },
  },
});
const numUpdates = Number(values.updates);
/** Updates before these pay for what is set up once. */
const FIRST = 5;
const MODES = [
  ['one process', []],
  ['two processes', ['--set', 'process.colocate=false']],
  ['one process, no store', ['--no-store']],
  ['two processes, no store', ['--set', 'process.colocate=false', '--no-store']],
];
const RUN_ROLES = ['trainer+collector', 'trainer', 'collector'];
const TICK_MS = 10;

const table = new FigureTable(
  `Anatomy of an update: ${values.recipe}, mean of updates ${FIRST} to ${numUpdates}`,
);
const inMemoryMs = runInMemory();
table.add('the same loop in memory: an update', inMemoryMs, 'ms');
for (const [mode, args] of MODES) {
  const measured = await train(args, {});
  const { perUpdateMs, times, cpuMs } = measured;
  table.add(`${mode}: an update`, perUpdateMs, 'ms');
  table.add(`${mode}: against the loop in memory`, inMemoryMs / perUpdateMs, '×');
  for (const name of ['wait', 'read', 'update', 'checkpoint'])
    table.add(`${mode}: time/${name}`, 1000 * times[name], 'ms');
  for (const [role, ms] of Object.entries(cpuMs)) table.add(`${mode}: processor time of ${role}`, ms, 'ms');
  if (whyNoStrace() !== null) continue;
  const { numSyncs } = await train(args, { traced: true });
  for (const [role, number] of Object.entries(numSyncs))
    table.add(`${mode}: syncs to disk of ${role}`, number, 'an update');
}
table.save(whyNoStrace() === null ? undefined : `Syncs to disk are left out, because ${whyNoStrace()}.`);

function runInMemory() {
  const args = [
    join(root, 'bench', 'train-in-memory.mjs'),
    values.recipe,
    '--updates',
    values.updates,
    '--json',
  ];
  const output = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(output.trim().split('\n').at(-1)).perUpdateMs;
}

/** Trains to the end; with `traced`, counts calls that wait for the disk instead of measuring times. */
async function train(args, { traced = false }) {
  const directory = makeDataDirectory();
  const session = startRetrace([
    ...[
      'train',
      '--recipe',
      values.recipe,
      '--updates',
      values.updates,
      '--nice',
      '0',
      '--data-dir',
      directory.path,
    ],
    ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0', ...args],
  ]);
  try {
    await session.waitFor(new RegExp(`update ${FIRST} of`), 300_000);
    const roles = session.roles();
    const ofRun = Object.entries(roles).filter(([role]) => RUN_ROLES.includes(role));
    const straces = [];
    for (const [role, pid] of traced ? ofRun : [])
      straces.push([role, await Strace.attach(pid, ['fsync', 'fdatasync', 'msync'])]);
    const before = processorTimes(roles);
    const startedAt = performance.now();
    await session.waitFor(new RegExp(`update ${numUpdates - 1} of`), 600_000);
    const perUpdateMs = (performance.now() - startedAt) / (numUpdates - 1 - FIRST);
    const after = processorTimes(roles);
    const perUpdate = (total) => total / (numUpdates - 1 - FIRST);
    const cpuMs = Object.fromEntries(
      Object.keys(before).map((role) => [role, perUpdate(after[role] - before[role])]),
    );
    const numSyncs = {};
    for (const [role, strace] of straces) numSyncs[role] = perUpdate((await strace.detach()).length);
    if (traced) {
      await session.killTree();
      return { numSyncs };
    }
    await session.ended;
    return {
      perUpdateMs,
      cpuMs,
      times: recordedTimes(directory.path, { from: FIRST, isWithoutStore: args.includes('--no-store') }),
    };
  } finally {
    await session.killTree();
    directory.remove();
  }
}

/** Milliseconds of processor time that each process has used. */
function processorTimes(roles) {
  return Object.fromEntries(
    Object.entries(roles).map(([role, pid]) => {
      // After the name, which may have blanks: field 14 of the whole is user time, 15 system time.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
      return [role, TICK_MS * (Number(fields[11]) + Number(fields[12]))];
    }),
  );
}
