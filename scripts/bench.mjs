/** `npm run bench [-- name …]`: measures the pipeline on this machine; records the figures in docs/results. */
import { BENCHES } from './results/measuring-scripts.mjs';
import { runRecorded } from './results/run-recorded.mjs';

await runRecorded(BENCHES);
