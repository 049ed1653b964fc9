export { startProxy, type RunningProxy } from './start-proxy.js';
export {
  ProxyError,
  type CallRefusal,
  type LocalTokenizer,
  type ProxyConfig,
  type ProxyErrorCode,
} from './proxy-config.js';
