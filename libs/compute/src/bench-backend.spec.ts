import { expect, it } from 'vitest';
import { benchBackend } from './bench-backend.js';

it('benchBackend: measures a backend in finite, positive figures', async () => {
  const bench = await benchBackend('wasm', { measureMs: 1 });
  expect(bench.name).toBe('wasm');
  for (const figure of [bench.matmulGigaflops, bench.opOverheadMicroseconds, bench.trainingStepMs]) {
    expect(figure).toBeGreaterThan(0);
    expect(figure).toBeLessThan(Infinity);
  }
});
