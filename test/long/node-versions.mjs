/**
 * Tests the newer versions of Node that Retrace supports: each installs the compute backend into its own cache (and so compiles its
 * addons), trains a small run, verifies it, and must get exactly the weights that this process's Node gets.
 *
 *   npm run test:long -- node-versions [-- --versions 22,24]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { fetchNode } from '../../scripts/fetch-node.mjs';
import { root } from '../support/cli.mjs';

const { values } = parseArgs({ options: { versions: { type: 'string', default: '22,24' } } });
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

/** @returns {{ version: string, weightsSha256: string }} */
function trainOn(node, cacheDirectory) {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'retrace-node-'));
  const environment = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
  if (cacheDirectory) environment.XDG_CACHE_HOME = cacheDirectory;
  const run = (...args) =>
    execFileSync(node, [retrace, ...args], { encoding: 'utf8', env: environment, maxBuffer: 2 ** 26 });
  try {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    if (cacheDirectory) run('backend', 'install');
    const trained = run(
      ...['train', '--recipe', 'bandit-ppo', '--updates', '5', '--backend', 'tensorflow', '--json'],
      ...['--data-dir', dataDirectory],
    );
    run('verify', '--data-dir', dataDirectory);
    return { version, weightsSha256: JSON.parse(trained.trim().split('\n').at(-1)).weightsSha256 };
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

const expected = trainOn(process.execPath, null);
const figures = [];
for (const line of values.versions.split(',')) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-node-'));
  try {
    const { version, weightsSha256 } = trainOn(fetchNode(line, directory), join(directory, 'cache'));
    const isSame = weightsSha256 === expected.weightsSha256;
    if (!isSame) process.exitCode = 1;
    const outcome = `weights ${isSame ? 'bit-equal to' : 'other than'} those of ${expected.version}`;
    console.log(`Node ${version}: installed, trained, verified; ${outcome}`);
    figures.push({ name: `Node ${version}: installed, trained, verified`, value: outcome });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'Newer lines of Node';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
