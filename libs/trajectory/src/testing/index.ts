export { anyEvent } from './any-event.js';
export { sampleControlEvent, sampleEpisodeEvent, sampleEvents, sampleStep } from './sample-events.js';
