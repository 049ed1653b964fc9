export { startProxy, type RunningProxy } from './start-proxy.js';
export { GatewayError } from '../http/gateway-error.js';
export type { CallRefusal, LocalTokenizer, ProxyConfig } from './proxy-config.js';
