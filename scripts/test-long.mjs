/** `npm run test:long [-- name …]`: learning curves over seeds, kills, soak, memory; records the figures in docs/results. */
import { LONG_TESTS } from './results/measuring-scripts.mjs';
import { runRecorded } from './results/run-recorded.mjs';

await runRecorded(LONG_TESTS);
