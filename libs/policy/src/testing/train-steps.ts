import { createHash } from 'node:crypto';
import { enableNativeOps, openBackend } from '@retrace/compute';
import type { BackendName } from '@retrace/compute';
import { Transformer } from '../model/transformer.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { EVERY_TERM } from './loss-options.js';
import { randomBatch } from './random-batch.js';
import { TINY_CONFIG } from './tiny-config.js';

/** Makes this module a program when it is run with this argument. */
export const PROGRAM_FLAG = '--print-weights';

/** SHA-256 of all weights after a few training steps: equal only if every bit of every step was. */
export async function weightsAfterTraining(backend: BackendName): Promise<string> {
  // TensorFlow gets enough to share out among its threads; the others have one.
  const numSequences = backend === 'tensorflow' ? 96 : 4;
  const model = Transformer.initialize({ ...TINY_CONFIG, hiddenSize: 64, vocabSize: 43 }, 1);
  const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 });
  const lengths = Array.from({ length: numSequences }, (_, s) => 12 + ((s * 7) % 20));
  for (let step = 0; step < 3; step++) {
    const batch = randomBatch(lengths, { vocabSize: 43, actionShare: 0.2, seed: step });
    await optimizer.accumulate(batch, { ...EVERY_TERM, maxTokensPerMicroBatch: 1024 });
    await optimizer.apply({ learningRate: 1e-2, maxGradientNorm: 1 });
  }
  const hash = createHash('sha256');
  for (const [name, { data }] of await model.exportTensors()) {
    hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  optimizer.dispose();
  model.dispose();
  return hash.digest('hex');
}

/** As a program: prints the hash for the backend that its argument names, with native ops if the next one is `true`. */
if (process.argv[2] === PROGRAM_FLAG) {
  const { name } = await openBackend({ prefer: [process.argv[3] as BackendName] });
  enableNativeOps(process.argv[4] === 'true');
  console.log(await weightsAfterTraining(name));
}
