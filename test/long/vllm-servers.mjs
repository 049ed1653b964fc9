/**
 * Two real vLLM servers on the processor sample one run: they share its turns, each gets every version, and one is killed in the middle of a round and starts
 * again without its weights. Every stored logprob is computed again with the weights that its token is marked with.
 *
 *   npm run test:long -- vllm-servers
 *
 * Installs 3 GB of packages once; then it takes some five minutes on two free cores, ten on busy ones.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('vllm-servers.spec.ts', 'Two vLLM servers of one run');
