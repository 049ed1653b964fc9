export { anyEvent } from './any-event.js';
export { columnsFromEvents, columnsFromTokens, type EpisodeTokens } from './episode-columns.js';
export {
  controlEvent,
  episodeEvent,
  episodeEvents,
  type EpisodeIds,
  type EpisodeSpec,
  type RunIds,
} from './episode-events.js';
export { sampleControlEvent, sampleEpisodeEvent, sampleEvents } from './sample-events.js';
export { sampleStep } from './sample-payloads.js';
/** For specs that declare fields of their own. */
export * as fields from '../fields/field.js';
