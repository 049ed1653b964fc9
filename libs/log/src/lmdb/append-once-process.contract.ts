import { openLmdbLog } from './open-lmdb-log.js';

/** Appends one record to trajectories 0 of the log whose path is its only argument. */
const log = await openLmdbLog({ path: process.argv[2], createdBy: 'visibility test' });
await log.append('trajectories', 0, [new Uint8Array(1)]);
await log.close();
