/**
 * A run whose disk fills up: that it ends with one sentence, and that `retrace verify` finds nothing afterwards.
 *
 *   npm run test:long -- full-disk
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('full-disk.spec.ts', 'A disk that fills up under a run');
