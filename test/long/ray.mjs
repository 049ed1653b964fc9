/**
 * Trains through the torch worker in a real local Ray cluster (Ray Train, two ranks on the processor), and kills each of its ranks in the middle of an
 * update: Ray starts both again, and the run ends with the same weights, no update or episode lost or doubled.
 *
 *   npm run test:long -- ray
 *
 * Some 1.5 GB of packages are installed once, with gcc and binutils; then it takes two to three minutes on two free cores.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('ray.spec.ts', 'Training in a Ray cluster');
