/** `npm run bench [-- name …]`: measures the pipeline on this machine; records the figures in docs/results. */
import { runRecorded } from './results/run-recorded.mjs';

await runRecorded({ folder: 'bench', suffix: '.bench.mjs', command: 'npm run bench --' });
