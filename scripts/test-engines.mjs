/**
 * `npm run test:engines`: the tests of the torch worker, and those of runs that train on it (test/engines), in a Python environment with torch that it
 * makes once. Arguments are passed to vitest. Where torch can't be installed, it says why and skips them.
 */
import { runPython } from '../test/support/python-client.mjs';
import { torchEnvironment } from '../test/support/torch-environment.mjs';

const WORKER_TESTS = ['calls', 'chosen', 'training'].map((name) => `tests/test_engine_${name}.py`);

const environment = await torchEnvironment();
if ('unavailable' in environment) {
  console.log(`engines: skipped, because ${environment.unavailable}`);
} else {
  process.exitCode = await runPython(environment.python, ['-m', 'pytest', ...WORKER_TESTS]);
  if (process.exitCode === 0) {
    process.env.RETRACE_TESTS = 'engines';
    process.argv.splice(2, 0, 'test/engines');
    await import('./test.mjs');
  }
}
