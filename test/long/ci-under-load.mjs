/**
 * Runs all of `.ci/run` in fresh clones of HEAD while the machine does something else: it must pass three times in a row beside two busy loops, and once while
 * a disk is kept busy.
 *
 *   npm run test:long -- ci-under-load [-- --loops 3 --disk 1]
 *
 * One run beside two busy loops takes about 25 minutes on two cores. The aim of each is 1,500 s.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../support/cli.mjs';

const { values } = parseArgs({
  options: { loops: { type: 'string', default: '3' }, disk: { type: 'string', default: '1' } },
});

const AIM_SECONDS = 1_500;
const BUSY_LOOP = ['bash', '-c', 'while :; do :; done'];
/** Writes 512 MiB and forces them to the disk, again and again. */
const BUSY_DISK = [
  'bash',
  '-c',
  'while :; do dd if=/dev/zero of="$0" bs=1M count=512 status=none; sync; done',
];

/** @param {string} name @param {(folder: string) => readonly (readonly string[])[]} loads commands that run beside CI */
function runBeside(name, loads) {
  const folder = mkdtempSync(join(tmpdir(), 'retrace-ci-load-'));
  const beside = loads(folder).map(([program, ...args]) => spawn(program, args, { stdio: 'ignore' }));
  const startedMs = performance.now();
  try {
    const clone = join(folder, 'clone');
    spawnSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' });
    const { stdout } = spawnSync('bash', ['.ci/run'], {
      cwd: clone,
      encoding: 'utf8',
      maxBuffer: 512 * 1024 ** 2,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = stdout.trim().split('\n');
    for (const line of lines.filter((each) => /^FAILED|^ ?FAIL |×/.test(each.trim()))) console.log(line);
    const said = lines.at(-1) ?? '';
    console.log(`${name}: ${said}`);
    const isPassed = / 0 failed/.test(said);
    if (!isPassed) process.exitCode = 1;
    return [
      { name: `${name}: said`, value: said },
      {
        name: `${name}: time`,
        value: Math.round((performance.now() - startedMs) / 1000),
        unit: 's',
        aim: `≤ ${AIM_SECONDS}`,
      },
    ];
  } finally {
    for (const load of beside) load.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

const figures = [
  ...Array.from({ length: Number(values.loops) }, (_, i) =>
    runBeside(`two busy loops, run ${i + 1}`, () => [BUSY_LOOP, BUSY_LOOP]),
  ),
  ...Array.from({ length: Number(values.disk) }, (_, i) =>
    runBeside(`a busy disk, run ${i + 1}`, (folder) => [[...BUSY_DISK, join(folder, 'busy')]]),
  ),
].flat();
if (process.env.RETRACE_RESULT_FILE)
  writeFileSync(
    process.env.RETRACE_RESULT_FILE,
    JSON.stringify({ title: 'All of CI beside other work', figures }),
  );
