/**
 * `npm run test:frameworks`: installs agent frameworks of others into test/frameworks, unless they are there, checks the types of what
 * records them, and runs real agents through it. They need Node 22; where this one is older, a newer one is fetched for the tests. Arguments
 * are passed to vitest. Where the packages can't be had, it says why and skips everything.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { satisfies } from 'semver';
import { buildIfStale } from './build-if-stale.mjs';
import { fetchNode } from './fetch-node.mjs';
import { root, runTool } from './run-tool.mjs';

const DIRECTORY = join(root, 'test', 'frameworks');
const NODE_LINE = '22';

const prepared = prepare();
if ('unavailable' in prepared) {
  console.log(`Agent frameworks: skipped, because ${prepared.unavailable}`);
} else {
  const { node } = prepared;
  await runTool('types', 'node_modules/typescript-7/bin/tsc', ['-b', 'test/frameworks']);
  await buildIfStale();
  const args = ['run', 'test/frameworks', ...process.argv.slice(2)];
  process.exitCode = await runTool('tests', 'node_modules/vitest/vitest.mjs', args, {
    node,
    mayFail: true,
    environment: { RETRACE_TESTS: 'frameworks' },
  });
}

/** @returns {{ node: string } | { unavailable: string }} `unavailable` completes "skipped, because …". */
function prepare() {
  try {
    installFrameworks();
  } catch (error) {
    return { unavailable: `the packages of test/frameworks can't be installed: ${error.message}` };
  }
  const { engines } = JSON.parse(readFileSync(join(DIRECTORY, 'package.json'), 'utf8'));
  if (satisfies(process.version, engines.node)) return { node: process.execPath };
  try {
    const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'retrace');
    return { node: fetchNode(NODE_LINE, join(cache, `node-${NODE_LINE}`)) };
  } catch (error) {
    const why = `Node ${NODE_LINE} can't be fetched: ${error.message}`;
    return { unavailable: `they need Node ${engines.node}, this is ${process.version}, and ${why}` };
  }
}

/** Installs what the lock file names, once for each content of it. */
function installFrameworks() {
  const lock = readFileSync(join(DIRECTORY, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  const stamp = join(DIRECTORY, 'node_modules', '.installed-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  // Without warnings, since npm looks at this Node and not at the one that will run the packages.
  execFileSync('npm', ['ci', '--loglevel', 'error'], { cwd: DIRECTORY, stdio: 'inherit' });
  writeFileSync(stamp, digest);
}
