import { describe, expect, it } from 'vitest';
import { parseProcessor, chosenProcessor } from './processor.js';

const cpuInfo = (flags: string): string =>
  `processor\t: 0\nflags\t\t: fpu sse2 ${flags}\nbugs\t\t:\n\nprocessor\t: 1\n`;
const V3 = 'avx avx2 bmi1 bmi2 f16c fma';
const V4 = `${V3} avx512f avx512bw avx512cd avx512dq avx512vl`;

describe('parseProcessor', () => {
  it.each([
    ['', 'baseline'],
    ['avx', 'baseline'],
    [V3, 'x86-64-v3'],
    // Knights Landing has only half of AVX-512, and the ops use the other half, too.
    [`${V3} avx512f avx512cd`, 'x86-64-v3'],
    [`${V4} amx_tile`, 'x86-64-v4'],
  ])('recognizes flags "%s" as %s', (flags, processor) => {
    expect(parseProcessor(cpuInfo(flags))).toBe(processor);
  });

  it('is the baseline where the kernel lists nothing', () => {
    expect(parseProcessor('')).toBe('baseline');
  });
});

describe('RETRACE_PROCESSOR', () => {
  it('may name an older generation', () => {
    expect(chosenProcessor('baseline')).toBe('baseline');
  });

  it.each(['x86-64-v9', 'avx2'])('is refused as %s', (asked) => {
    expect(() => chosenProcessor(asked)).toThrow(/RETRACE_PROCESSOR is '.*'; it must be one of baseline/);
  });
});
