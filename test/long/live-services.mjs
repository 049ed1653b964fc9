/**
 * Commands on Kafka beside roles that run: rebuild, deletion and import while sinks carry, and what doctor says of log and store.
 *
 *   npm run test:long -- live-services
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('live-services.kafka.spec.ts', 'Commands on Kafka beside roles that run');
