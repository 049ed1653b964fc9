/** A real store and log with episodes in them, for the specs of other packages. */
export { faultyLog, type Fault } from '../../faulty-log.fixture.js';
export { appendEvents, controlEvent, episodeEvents, type EpisodeSpec } from './episodes.fixture.js';
export { openStoreFixture, type StoreFixture } from './store.fixture.js';
export { placeMigratedStore } from './store-template.fixture.js';
export { overriding } from '../../overriding.fixture.js';
