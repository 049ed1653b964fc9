import { expect, it } from 'vitest';
import { presetsFor } from './presets.js';

it('presetsFor: offers to leave out the KL where the run has one, in its object or in its former place', () => {
  const offersNoKl = (loss: object) => presetsFor({ loss }).find(({ label }) => label === 'No KL')?.set;
  expect(offersNoKl({ kl: { coefficient: 0.1 } })).toBe('loss.kl.coefficient=0');
  expect(offersNoKl({ klCoefficient: 0.1 })).toBe('loss.kl.coefficient=0');
  for (const loss of [{}, { kl: null }, { kl: { coefficient: 0 } }, { klCoefficient: 0 }])
    expect(offersNoKl(loss)).toBeUndefined();
});
