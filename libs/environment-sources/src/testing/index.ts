export { ProtocolHost } from './protocol-host.js';
