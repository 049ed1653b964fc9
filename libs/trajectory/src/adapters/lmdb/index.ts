export { openLmdbLog, type LmdbLogOptions } from './open-lmdb-log.js';
