export { adoptEarlierFile, earlierPath } from './earlier-file.js';
export { framedBytes } from './frames.js';
export { adoptSegment } from './segment-file.js';
export { Spool, type SpoolReader, type SpoolSettings } from './spool.js';
export { SpoolError, type SpoolErrorCode } from './spool-error.js';
