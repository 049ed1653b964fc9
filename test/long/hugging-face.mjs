/**
 * Policies that `retrace save-policy` writes are what they were: transformers computes Retrace's log probabilities and entropies with the
 * directory of all weights, and peft with the base model and the directory of adapters.
 *
 *   npm run test:long -- hugging-face
 *
 * torch and transformers are those of the test `vllm`: some 3 GB of packages are installed once. Then it takes about two minutes on two free cores.
 */
import { runLongSpec } from '../support/run-long-spec.mjs';

runLongSpec('hugging-face.spec.ts', 'Policies in transformers and peft');
