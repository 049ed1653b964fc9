/**
 * An agent plays through `retrace proxy` and a real vLLM on the processor, which samples what a request leaves out as Qwen's models do; `retrace train --from-run` trains
 * the model on what the proxy recorded, and `retrace play` finds it better.
 *
 *   npm run test:long -- trained-through-vllm
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes a few minutes.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('trained-through-vllm.spec.ts', 'What the proxy records before vLLM, trained on');
