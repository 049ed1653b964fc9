/**
 * `npm test`: builds with type checks, makes sure of a fast compute backend (or says why there is none), runs all tests
 * of at most some seconds each. Arguments are passed to vitest.
 */
import { exitIfNodeTooOld } from '../apps/cli/bin/check-node.mjs';
import { buildIfStale } from './build-if-stale.mjs';
import { runTool } from './run-tool.mjs';

exitIfNodeTooOld();
await runTool('type check and build', 'node_modules/typescript/bin/tsc', ['-b']);
await buildIfStale();
const installation = await runTool('compute backend', 'apps/cli/bin/retrace.mjs', ['backend', 'install'], {
  mayFail: true,
});
if (installation !== 0) console.log('Tests go on with the backend that is there; wasm is always.');
const failed = await runTool('tests', 'node_modules/vitest/vitest.mjs', ['run', ...process.argv.slice(2)], {
  mayFail: true,
});
process.exitCode = failed;
