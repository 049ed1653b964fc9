/**
 * On-policy distillation whose teacher is a model on a real vLLM: a policy of the same weights differs from it by nothing, one of other weights
 * comes near it, and its updates are made again once the server is gone.
 *
 *   npm run test:long -- taught-by-vllm
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes about four minutes on two free cores.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('taught-by-vllm.spec.ts', 'A policy that a model on a real vLLM teaches');
