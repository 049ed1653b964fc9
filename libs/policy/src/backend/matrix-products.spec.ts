import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programFlag } from '../testing/product-error.js';
import { runAsProgram } from '../testing/run-as-program.js';
import { defaultCacheDirectory } from './installer/installation.js';
import { backendObstacle, openBackend } from './open-backend.js';
import { multipliesInFloat32 } from './matrix-products.js';

const obstacle = await backendObstacle('tensorflow', defaultCacheDirectory());
const hasBfloat16 = /\bamx_bf16\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));

describe.skipIf(obstacle !== null)('matMulPrecision', () => {
  const errorUnder = async (precision: string) =>
    Number(
      await runAsProgram(new URL('../testing/product-error.ts', import.meta.url), [programFlag, precision]),
    );

  it('multiplies in float32 unless bfloat16 is asked for, which the processor must have', async () => {
    expect(await errorUnder('float32')).toBeLessThan(1e-6);
    const error = await errorUnder('bfloat16');
    // bfloat16 keeps 8 bits: two roundings of 2^-9 each, averaged over 128 products.
    expect(error).toBeLessThan(2 ** -8);
    if (hasBfloat16) expect(error).toBeGreaterThan(1e-5);
  });
});

describe('multipliesInFloat32', () => {
  const asked = { TF_SET_ONEDNN_FPMATH_MODE: 'BF16' };

  it('is so in WebAssembly, whatever TensorFlow is asked for', async () => {
    await openBackend({ prefer: ['wasm'] });
    expect([multipliesInFloat32({}), multipliesInFloat32(asked)]).toEqual([true, true]);
  });

  it.skipIf(obstacle !== null)('is so in TensorFlow on a processor, but for bfloat16', async () => {
    await openBackend({ prefer: ['tensorflow'] });
    expect([multipliesInFloat32({}), multipliesInFloat32(asked)]).toEqual([true, false]);
  });
});
