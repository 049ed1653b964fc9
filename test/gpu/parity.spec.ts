import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openBackend } from '@retrace/compute';
import { trainAndGenerate, type Outcome } from './train-and-generate.mjs';

const isAsked = process.env.RETRACE_GPU_TESTS === 'on';

/** The processor's side runs in its own process, because a process keeps the backend that it has opened. */
async function onProcessor(): Promise<Outcome> {
  const script = new URL('train-and-generate.mjs', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'tensorflow'], {
    env: { ...process.env, RETRACE_BACKEND: 'tensorflow', CUDA_VISIBLE_DEVICES: '-1' },
  });
  return JSON.parse(stdout) as Outcome;
}

describe.skipIf(!isAsked)('an NVIDIA GPU (run by npm run test:gpu)', () => {
  it('NVIDIA GPU: trains and generates like the processor', async () => {
    await openBackend({ prefer: ['tensorflow-cuda'] });
    const [gpu, processor] = [await trainAndGenerate(), await onProcessor()];
    expect(gpu.greedyTokens).toEqual(processor.greedyTokens);
    gpu.losses.forEach((loss, step) => {
      expect(Math.abs(loss - processor.losses[step])).toBeLessThan(1e-3 * Math.max(1, Math.abs(loss)));
    });
    gpu.logprobs.forEach((logprob, n) => {
      expect(Math.abs(logprob - processor.logprobs[n])).toBeLessThan(1e-3);
    });
  });
});
