/** `npm run bench [-- name …]`: measures the pipeline on this machine; figures go to docs/results. */
import { runRecorded } from './run-recorded.mjs';

await runRecorded({ folder: 'bench', suffix: '.bench.mjs', command: 'npm run bench --' });
