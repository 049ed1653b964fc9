export { type LmdbLogOptions, openLmdbLog } from './open-lmdb-log.js';
