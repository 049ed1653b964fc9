export { openStoreFixture, type StoreFixture } from './store-fixture.js';
export { createStoreBench, FULL_USER, StoreProcess } from './store-process.js';
export { placeMigratedStore } from './store-template.js';
