/**
 * `npm run test:python`: checks the Python client (lint, types) and runs its tests against a Retrace that this starts. Arguments are
 * passed to pytest; without any, the tests of the torch worker follow. Where there is no Python, or its packages can't be installed, it says
 * why and skips them.
 */
import { clientEnvironment, runPython, withRetrace } from '../test/support/python-client.mjs';
import { torchEnvironment } from '../test/support/torch-environment.mjs';
import { buildIfStale } from './build-if-stale.mjs';

const ENGINE_TESTS = ['tests/test_engine_calls.py', 'tests/test_engine_training.py'];
const CHECKS = [['ruff', 'check', '.'], ['ruff', 'format', '--check', '.'], ['mypy']];

const environment = await clientEnvironment();
if ('unavailable' in environment) {
  console.log(`Python client: skipped, because ${environment.unavailable}`);
} else {
  process.exitCode = await testWith(environment.python, process.argv.slice(2));
}

async function testWith(python, pytestArguments) {
  for (const check of CHECKS) {
    const code = await runPython(python, ['-m', ...check]);
    if (code !== 0) return code;
  }
  await buildIfStale();
  const code = await withRetrace((variables) =>
    runPython(python, ['-m', 'pytest', ...pytestArguments], variables),
  );
  return code === 0 && pytestArguments.length === 0 ? testEngine() : code;
}

/** Runs the tests of the torch worker, which the client's own environment skips, in one that has torch. */
async function testEngine() {
  const environment = await torchEnvironment();
  if ('python' in environment) return runPython(environment.python, ['-m', 'pytest', ...ENGINE_TESTS]);
  console.log(`Torch worker: skipped, because ${environment.unavailable}`);
  return 0;
}
