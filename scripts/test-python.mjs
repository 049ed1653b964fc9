/**
 * `npm run test:python`: checks the Python client (lint, types) and runs its tests against a Retrace that this starts. Arguments are
 * passed to pytest. Where there is no Python, or its packages can't be installed, it says why and skips everything. The torch worker is
 * tested by `npm run test:engines`.
 */
import { dirname, join } from 'node:path';
import { clientEnvironment, runPython, withRetrace } from '../test/support/python-client.mjs';
import { buildIfStale } from './build-if-stale.mjs';

const CHECKS = [['ruff', 'check', '.'], ['ruff', 'format', '--check', '.'], ['mypy']];

const environment = await clientEnvironment();
if ('unavailable' in environment) {
  console.log(`Python client: skipped, because ${environment.unavailable}`);
} else {
  process.exitCode = await testWith(environment.python, process.argv.slice(2));
}

async function testWith(python, pytestArguments) {
  // What mypy learned about the packages, which takes it a minute, is kept beside them; it tells by their content what has changed.
  const variables = { MYPY_CACHE_DIR: join(dirname(python), '..', 'mypy-cache') };
  for (const check of CHECKS) {
    const code = await runPython(python, ['-m', ...check], variables);
    if (code !== 0) return code;
  }
  await buildIfStale();
  return withRetrace((variables) => runPython(python, ['-m', 'pytest', ...pytestArguments], variables));
}
