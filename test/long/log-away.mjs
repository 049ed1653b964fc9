/**
 * Trainer and collector on Kafka while the broker is killed and comes back: minutes, most of them waiting.
 *
 *   npm run test:long -- log-away
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('log-away.kafka.spec.ts', 'Trainer and collector while Kafka is away');
