export { RunQueue, type Train } from './run-queue.js';
