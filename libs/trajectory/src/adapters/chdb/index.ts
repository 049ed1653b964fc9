export type { StoreUser } from './authentication.js';
export { startStoreServer, type StoreServer, type StoreServerOptions } from './store-server.js';
export { StoreServerError, type StoreServerErrorCode } from './store-server-error.js';
