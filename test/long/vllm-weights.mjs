/**
 * Trains all weights of a real vLLM on the processor while it runs, by its API for weight updates and the plugin of `clients/python`: each
 * token was sampled with the weights that it is marked with, although they change in the middle of rounds.
 *
 *   npm run test:long -- vllm-weights
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes some minutes.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('vllm-weights.spec.ts', 'Training all weights of a running vLLM');
