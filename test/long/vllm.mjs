/**
 * Trains through a real vLLM on the processor, which samples every turn and gets each policy version as an adapter: its logprobs are those of
 * Retrace's own forward pass, each token has the version that sampled it, and the policy learns as it does with local sampling.
 *
 *   npm run test:long -- vllm
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes about six minutes on two free cores.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('vllm.spec.ts', 'Training through a real vLLM');
