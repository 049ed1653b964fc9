import { describe, expect, it } from 'vitest';
import type { EnvironmentSpec } from './environment.js';
import { bandit, defineEnvironment, getEnvironment, listEnvironments } from './index.js';

describe('the registry of environments', () => {
  it('lists the built-in environments by name', () => {
    const names = listEnvironments().map((spec) => spec.name);
    expect(names).toEqual([
      'bandit',
      'countdown',
      'countdown-four',
      'countdown-wide',
      'crafting',
      'crafting-mini',
      'crafting-open',
      'crafting-small',
      'fixed-lake',
      'frozen-lake',
      'grid',
      'grid-small',
      'household',
      'household-put',
      'household-small',
      'lmrl-maze',
      'maze',
      'memory-bandit',
      'question',
      'sokoban',
      'sokoban-two-boxes',
      'wordle',
    ]);
    for (const name of names) expect(getEnvironment(name).name).toBe(name);
  });

  it('offers snapshots of every built-in environment', () => {
    const without = listEnvironments().filter((spec) => spec.create().snapshot === undefined);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('names similar environments when it refuses an unknown one', () => {
    expect(() => getEnvironment('frozn-lake')).toThrowError(
      expect.objectContaining({
        code: 'UNKNOWN_ENVIRONMENT',
        retriable: false,
        message: "no environment is named 'frozn-lake'; did you mean frozen-lake?",
      }) as Error,
    );
    expect(() => getEnvironment('chess')).toThrowError(
      `known: ${listEnvironments()
        .map(({ name }) => name)
        .join(', ')}`,
    );
  });

  it('refuses a name that is taken', () => {
    expect(() => defineEnvironment(bandit)).toThrowError(
      expect.objectContaining({ code: 'DUPLICATE_ENVIRONMENT' }) as Error,
    );
  });

  it.each<[string, Partial<EnvironmentSpec>]>([
    ['kebab-case', { name: 'Two Words' }],
    ['create is undefined, must be a function', { create: undefined }],
    ['actionWords must be null where words is', { words: null }],
    ['maxSteps is 0', { maxSteps: 0 }],
    ['words must not repeat', { words: ['a', 'a'] }],
    ["word 'a b' must be non-empty", { words: ['a b'] }],
    ["action word 'north' is not among words", { actionWords: ['north'] }],
    ['agent names must not repeat', { agents: [...bandit.agents, bandit.agents[0]] }],
    ["an agent named 'random' is required", { agents: [] }],
  ])('refuses a spec: %s', (rule, change) => {
    expect(() => defineEnvironment({ ...bandit, name: 'other', ...change })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_SPEC',
        message: expect.stringContaining(rule) as string,
      }) as Error,
    );
  });
});
