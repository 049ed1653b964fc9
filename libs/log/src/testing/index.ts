export { appendEvents } from './append-events.js';
export { type Fault, faultyLog } from './faulty-log.js';
export { overriding } from './overriding.js';
