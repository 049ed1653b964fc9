/** `npm start`: checks the Node version, builds what is stale, and runs `retrace up` with the arguments it got. */
import { exitIfNodeTooOld } from '../apps/cli/bin/check-node.mjs';

exitIfNodeTooOld();
const { buildIfStale } = await import('./build-if-stale.mjs');
await buildIfStale();
const { runCli } = await import('../apps/cli/dist/main.js');
process.exitCode = await runCli(['up', ...process.argv.slice(2)]);
