/**
 * Runs the proxy before a real vLLM on the processor, and compares what SQL shows with vLLM's own token ids and log-probabilities.
 *
 *   npm run test:long -- proxy-vllm
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes about two minutes.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('proxy-vllm.spec.ts', 'The proxy before a real vLLM');
