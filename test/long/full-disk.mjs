/**
 * Fills the disk under a run: the run must end with one sentence, and `retrace verify` must find no fault afterwards.
 *
 *   npm run test:long -- full-disk
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('full-disk.spec.ts', 'A disk that fills up under a run');
