/**
 * The Tinker engine against SkyRL's real server on its JAX back-end: the contract of every engine, the gradients and weights of TensorFlow.js on the same
 * batches, a whole run that learns, a server that is killed in the middle of a run, and what `retrace engine check` finds.
 *
 *   npm run test:long -- tinker
 *
 * Some 2 GB of packages are installed once, with gcc and binutils; then it takes about ten minutes on two free cores. RETRACE_SKYRL_SOURCE names a checkout of
 * SkyRL to run in place of the published version.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('tinker.spec.ts', 'Training in a real server of the Tinker API');
