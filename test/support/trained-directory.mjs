import { cp, mkdir, mkdtemp, rename, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runRetrace } from './cli.mjs';

/** Every update of both runs learns, and every episode of them was played for training. */
const COMMON = [
  ...['--recipe', 'bandit-ppo', '--set', 'evaluation.numTestEpisodes=0'],
  ...['--set', 'evaluation.everyUpdates=0', '--set', 'optimizer.learningRate=0.003'],
  // Few episodes, which need not make a policy that is good at all of them.
  ...['--set', 'collection.groupsPerRound=256', '--set', 'optimizer.miniBatchActionTokens=128'],
  ...['--set', 'loss.entropyCoefficient=0.01'],
];

/** The runs of the directory, the newest last: of two updates with seed 9, and of three updates. */
const RUNS = [
  ['--updates', '2', '--seed', '9'],
  ['--updates', '3'],
];

/**
 * Copies a data directory with one or two trained runs of `bandit-ppo` to a path that is empty or does not exist. It is trained once for a whole run of vitest
 * (`scripts/trained-directory-setup.mjs`), by the first spec that asks; others wait for it.
 *
 * @param {string} path
 * @param {1 | 2} numRuns
 */
export async function placeTrainedDirectory(path, numRuns) {
  const shared = process.env.RETRACE_TEST_TRAINED ?? (await mkdtemp(join(tmpdir(), 'retrace-trained-')));
  const template = templateOf(shared, numRuns);
  const making = join(shared, 'making');
  while (!(await exists(template))) {
    if (await isFirst(making)) await makeTemplates(shared).finally(() => rmdir(making));
    else await sleep(100);
  }
  await cp(template, path, { recursive: true, verbatimSymlinks: true });
  if (process.env.RETRACE_TEST_TRAINED === undefined) await rm(shared, { recursive: true });
}

/** @param {string} shared @param {number} numRuns */
function templateOf(shared, numRuns) {
  return join(shared, `runs-${numRuns}`);
}

/** @param {string} shared */
async function makeTemplates(shared) {
  const own = join(await mkdtemp(join(shared, 'training-')), 'data');
  for (const [i, run] of RUNS.entries()) {
    const { code, stderr } = await runRetrace(['train', ...COMMON, ...run, '--data-dir', own]);
    if (code !== 0) throw new Error(`retrace train ended with exit code ${code}: ${stderr}`);
    // Pipes can't be copied; the next process makes new ones.
    await rm(join(own, 'store', 'exchange'), { recursive: true, force: true });
    const copied = `${own}-${i}`;
    await cp(own, copied, { recursive: true, verbatimSymlinks: true });
    await rename(copied, templateOf(shared, i + 1));
  }
}

/** Whether this process is the one that makes the template. @param {string} making */
async function isFirst(making) {
  return mkdir(making).then(
    () => true,
    () => false,
  );
}

/** @param {string} path */
async function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}
