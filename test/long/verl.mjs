/**
 * Trains in the real package verl: its FSDP engine behind the torch worker, on the processor, in one process and in two. The contract of every engine, the same
 * updates as TensorFlow.js, runs that learn, change engines, replay, and lose their worker.
 *
 *   npm run test:long -- verl
 *
 * Some 2 GB of packages are installed once, with gcc and binutils; then it takes about five minutes on two free cores.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('verl.spec.ts', 'Training in verl’s engine');
