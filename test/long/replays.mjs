/**
 * Replays 20 random updates of a run of each algorithm, and then the whole run: every weight must be the recorded one, bit for bit.
 *
 *   npm run test:long -- replays
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('replays.spec.ts', 'Replays of random updates');
