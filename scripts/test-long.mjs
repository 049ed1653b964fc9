/** `npm run test:long [-- name …]`: learning curves over seeds, kills, soak, memory; records the figures in docs/results. */
import { runRecorded } from './results/run-recorded.mjs';

await runRecorded({ folder: 'test/long', suffix: '.mjs', command: 'npm run test:long --' });
