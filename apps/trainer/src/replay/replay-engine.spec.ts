import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { parseBackend, workerVersion } from '../engine/torch/used-backend.js';
import { replayEngine } from './replay-engine.js';

const OPTIONS = { fsdp_size: 2 };
const recipe = {
  ...resolveRecipe('bandit-ppo'),
  engine: { kind: 'torch', backend: 'verl', python: 'python3.12', options: OPTIONS },
} as const;
const used = (version: string) =>
  ({ kind: 'torch', version, device: 'cpu', numProcesses: 2, precision: 'float32' }) as const;

describe('the engine of a replay', () => {
  it('has the back-end of the worker that made the update, whatever the recipe says now', () => {
    const common = { kind: 'torch', python: 'python3.12', processes: 2, precision: 'float32' };
    const inVerl = workerVersion('2.11.0', 'verl 0.9.1 fsdp2');
    expect(inVerl).toBe('torch 2.11.0, verl 0.9.1 fsdp2');
    expect(replayEngine(recipe, used(inVerl))).toEqual({ ...common, backend: 'verl', options: OPTIONS });
    expect(replayEngine(recipe, used(workerVersion('2.11.0', 'native')))).toEqual({
      ...common,
      backend: 'native',
    });
  });

  it('has the back-end that is asked for', () => {
    const asked = { backend: 'native' } as const;
    expect(replayEngine(recipe, used('torch 2.11.0, verl 0.9.1 fsdp2'), asked)).toMatchObject(asked);
    expect(replayEngine(recipe, used('torch 2.11.0'), asked)).not.toHaveProperty('options');
    expect(replayEngine(recipe, null, asked)).toMatchObject({ kind: 'torch', ...asked });
  });

  it('tells workers that computed with other packages', () => {
    expect(['torch 2.11.0', 'torch 2.11.0, verl 1.0'].map(parseBackend)).toEqual(['native', 'verl']);
  });
});
