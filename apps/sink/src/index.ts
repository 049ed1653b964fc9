export { runSink } from './run-sink.js';
