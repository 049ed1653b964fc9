export { type MetricsAddress, MetricsServer } from './metrics-server.js';
export { RunRegistry } from './run-registry.js';
