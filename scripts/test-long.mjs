/** `npm run test:long [-- name …]`: learning curves over seeds, kills, soak, memory; figures go to docs/results. */
import { runRecorded } from './run-recorded.mjs';

await runRecorded({ folder: 'test/long', suffix: '.mjs', command: 'npm run test:long --' });
