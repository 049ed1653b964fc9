export { isLoopback } from './loopback.js';
export {
  PageGuard,
  readAllowedHosts,
  type GuardedRequest,
  type PageGuardOptions,
  type PageRefusal,
} from './page-guard.js';
