/**
 * Trains through a real SGLang on the processor, which samples every turn and gets all weights of each policy version: its logprobs are those
 * of Retrace's own forward pass, each token has the version that sampled it, and the policy learns as it does with local sampling.
 *
 *   npm run test:long -- sglang
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes some minutes.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('sglang.spec.ts', 'Training through a real SGLang');
