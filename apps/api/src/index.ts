export { ApiConfig, readApiConfig } from './config/api-config.js';
export { startApiServer, type ApiServer } from './server.js';
