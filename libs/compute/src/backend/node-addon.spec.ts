import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PROGRAM_FLAG } from '../testing/product-error.js';
import { runAsProgram } from '../testing/run-as-program.js';
import { backendObstacle, openBackend } from './open-backend.js';
import { configureTensorflow, multipliesInFloat32, type TensorflowSettings } from './node-addon.js';

const obstacle = await backendObstacle('tensorflow');
const hasBfloat16 = /\bamx_bf16\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));

describe.skipIf(obstacle !== null)('openBackend', () => {
  afterEach(() => vi.unstubAllEnvs());

  const outputUnder = (precision: string, largestMatrix = Infinity) =>
    runAsProgram(new URL('../testing/product-error.ts', import.meta.url), [
      PROGRAM_FLAG,
      precision,
      String(largestMatrix),
    ]);
  const errorUnder = async (precision: string) => Number(await outputUnder(precision));

  it('multiplies in float32 unless bfloat16 is set and the processor has it', async () => {
    expect(await errorUnder('float32')).toBeLessThan(1e-6);
    const error = await errorUnder('bfloat16');
    // bfloat16 keeps 8 bits: two roundings of 2^-9 each, averaged over 128 products.
    expect(error).toBeLessThan(2 ** -8);
    if (hasBfloat16) expect(error).toBeGreaterThan(1e-5);
  });

  it('does not use oneDNN for small matrices', async () => {
    vi.stubEnv('ONEDNN_VERBOSE', '1');
    expect(await outputUnder('float32', 1)).not.toContain('cpu,matmul');
    // By itself TensorFlow uses it only on processors with AVX512-VNNI.
    vi.stubEnv('TF_ENABLE_ONEDNN_OPTS', '1');
    expect(await outputUnder('float32')).toContain('cpu,matmul');
  });
});

describe('configureTensorflow', () => {
  const ALWAYS = { TF_CPP_MIN_LOG_LEVEL: '2', TF_FORCE_GPU_ALLOW_GROWTH: 'true' };
  const variablesAfter = (settings: TensorflowSettings, variables: NodeJS.ProcessEnv = {}) => {
    configureTensorflow(settings, variables);
    return variables;
  };

  it('leaves oneDNN out for small matrices, unless the user or bfloat16 asks for it', () => {
    const small = { largestMatrix: 2 ** 17 };
    expect(variablesAfter(small)).toEqual({ ...ALWAYS, TF_ENABLE_ONEDNN_OPTS: '0' });
    expect(variablesAfter(small, { TF_ENABLE_ONEDNN_OPTS: '1' })).toEqual({
      ...ALWAYS,
      TF_ENABLE_ONEDNN_OPTS: '1',
    });
    expect(variablesAfter({ ...small, matMulPrecision: 'bfloat16' })).toEqual({
      ...ALWAYS,
      TF_SET_ONEDNN_FPMATH_MODE: 'BF16',
    });
    expect(variablesAfter({ largestMatrix: 2 ** 17 + 1 })).toEqual(ALWAYS);
    expect(variablesAfter({})).toEqual(ALWAYS);
  });

  it('keeps the log level of the user, and leaves one GPU visible where one is named', () => {
    expect(variablesAfter({ visibleGpu: '2' }, { TF_CPP_MIN_LOG_LEVEL: '0' })).toEqual({
      ...ALWAYS,
      TF_CPP_MIN_LOG_LEVEL: '0',
      CUDA_VISIBLE_DEVICES: '2',
    });
  });
});

describe('multipliesInFloat32', () => {
  const asked = { TF_SET_ONEDNN_FPMATH_MODE: 'BF16' };

  it("is true of WebAssembly, whatever TensorFlow's variables say", async () => {
    await openBackend({ prefer: ['wasm'] });
    expect([multipliesInFloat32({}), multipliesInFloat32(asked)]).toEqual([true, true]);
  });

  it.skipIf(obstacle !== null)('is true of TensorFlow on a processor, except for bfloat16', async () => {
    await openBackend({ prefer: ['tensorflow'] });
    expect([multipliesInFloat32({}), multipliesInFloat32(asked)]).toEqual([true, false]);
  });
});
