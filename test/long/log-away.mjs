/**
 * Kills and restarts the Kafka broker under trainer and collector. Takes minutes, mostly waiting.
 *
 *   npm run test:long -- log-away
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('log-away.kafka.spec.ts', 'Trainer and collector while Kafka is away');
