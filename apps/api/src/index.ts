export { openApiReader, type ApiReader } from './api-reader.js';
export { ApiConfig, readApiConfig } from './config/api-config.js';
export { startApiServer, type ApiServer } from './server.js';
export { runApi } from './run-api.js';
export type { AlarmItem } from './warnings/alarms.dto.js';
