export { checkWholeDataFile } from './data-file/check-data-file.js';
export { type CompactLmdbLog, compactLmdbLog, type CompactReport } from './compact-lmdb-log.js';
export { type LmdbLogOptions, openLmdbLog } from './open-lmdb-log.js';
export { type RecordsToWrite, writeLmdbLog } from './write-lmdb-log.js';
