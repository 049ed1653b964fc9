import { openLmdbLog } from '../open-lmdb-log.js';

/** Commits to the log whose path is its only argument, as often as it can, until it is killed. */
const log = await openLmdbLog({ path: process.argv[2], createdBy: 'busy test' });
process.send?.('open');
for (let n = 0; ; n++) {
  await Promise.all([
    log.append('trajectories', 0, [new Uint8Array(1 + ((37 * n) % 3000))]),
    log.append('control', 0, [new Uint8Array(200)]),
    log.commitCursor(`group ${n % 3}`, 'trajectories', 0, n),
  ]);
}
