/**
 * Trains through a real vLLM on the processor that is killed in the middle of rounds; a web page answers at its port meanwhile; then it starts again with the model that it had at
 * first. The run goes on, every token was sampled by the weights that it names, and no episode failed.
 *
 *   npm run test:long -- vllm-restart
 *
 * Some 3 GB of packages are installed once, with gcc and binutils; then it takes about ten minutes.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('vllm-restart.spec.ts', 'A vLLM that starts again during training');
