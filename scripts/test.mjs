/**
 * `npm test`: builds with type checks, installs a fast compute backend (or prints why it can't), and runs all tests that a landing needs
 * (`test/README.md`). Arguments are passed to vitest.
 */
import { exitIfNodeTooOld } from '../apps/cli/bin/check-node.mjs';
import { buildIfStale } from './build-if-stale.mjs';
import { runSpecs } from './run-specs.mjs';
import { runTool } from './run-tool.mjs';
import { typeCheck } from './type-check.mjs';

exitIfNodeTooOld();
await typeCheck();
await buildIfStale();
const installation = await runTool('compute backend', 'apps/cli/bin/retrace.mjs', ['backend', 'install'], {
  mayFail: true,
});
if (installation !== 0) console.log('The tests continue with an installed backend; wasm is always there.');
process.exitCode = await runSpecs(process.argv.slice(2));
