import { expect, it } from 'vitest';
import { hasNativeOps } from '@retrace/compute';
import { onEachBackend, runAsProgram } from '@retrace/compute/testing';
import { PROGRAM_FLAG, weightsAfterTraining } from '../testing/train-steps.js';

await onEachBackend('Training', (backend) => {
  it('gives bit-equal weights when it is repeated', async () => {
    expect(await weightsAfterTraining(backend)).toBe(await weightsAfterTraining(backend));
  });

  it('gives bit-equal weights in another process', async () => {
    const module = new URL('../testing/train-steps.ts', import.meta.url);
    const elsewhere = await runAsProgram(module, [PROGRAM_FLAG, backend, String(hasNativeOps())]);
    expect(elsewhere).toMatch(/^[0-9a-f]{64}$/);
    expect(elsewhere).toBe(await weightsAfterTraining(backend));
  });
});
