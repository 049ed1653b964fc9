export { appendEvents, controlEvent, episodeEvents, type EpisodeSpec } from './episodes.js';
export { type Fault, faultyLog } from './faulty-log.js';
export { overriding } from './overriding.js';
