export type { StoreUser } from './access/authentication.js';
export { StoreServerError, type StoreServerErrorCode } from './store-server-error.js';
export { startStoreServer, type StoreServer, type StoreServerOptions } from './store-server.js';
