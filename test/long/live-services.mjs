/**
 * Runs commands beside running roles on Kafka: rebuild, deletion and import while sinks are at work, and what doctor reports on log
 * and store.
 *
 *   npm run test:long -- live-services
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('live-services.kafka.spec.ts', 'Commands on Kafka beside roles that run');
