import { describe, expect, it } from 'vitest';
import { recipes } from '../recipes/index.js';
import { requireInside } from './outside-fields.js';
import type { Recipe } from '../recipe/recipe.js';
import { resolveRecipe } from './resolve-recipe.js';

describe('requireInside', () => {
  it('takes every built-in recipe as it is, and names, directories of weights, runs and texts for the model', () => {
    for (const name of Object.keys(recipes)) requireInside(resolveRecipe(name));
    const alfworld = resolveRecipe('alfworld-ppo', {
      assignments: ['policy.model=/models/small', 'agent.systemTemplate="Be brief."', 'initFrom.run=sft'],
    });
    requireInside(alfworld);
  });

  it.each([
    ['environment', { module: '/tmp/evil.mjs' }, 'environment.module'],
    [
      'environment',
      { server: { protocol: 'retrace', command: ['sh', '-c', 'evil'] } },
      'environment.server.command',
    ],
    ['environment', { server: { protocol: 'retrace', urls: ['http://evil'] } }, 'environment.server.urls'],
    ['agent', { module: '/tmp/evil.mjs' }, 'agent.module'],
    ['agent', { formatModule: '/tmp/evil.mjs' }, 'agent.formatModule'],
    [
      'reward',
      { components: [{ reward: 'goal' }, { module: '/tmp/evil.mjs' }] },
      'reward.components.1.module',
    ],
    [
      'reward',
      { components: [{ reward: 'judge', options: { endpoint: 'http://evil' } }] },
      'components.0.options.endpoint',
    ],
    [
      'reward',
      { components: [{ reward: 'judge', options: { apiKeyVariable: 'KEY' } }] },
      'options.apiKeyVariable',
    ],
    ['engine', { kind: 'torch', python: '/tmp/evil' }, 'engine.python'],
    ['engine', { kind: 'torch', url: 'http://evil' }, 'engine.url'],
    ['engine', { kind: 'torch', tokenFile: '/etc/passwd' }, 'engine.tokenFile'],
    ['engine', { kind: 'torch', options: { a: 'b' } }, 'engine.options.a'],
    ['collection', { endpoint: { kind: 'vllm', command: ['sh'] } }, 'collection.endpoint.command'],
    ['distillation', { teacher: { endpoint: { kind: 'vllm', url: 'http://evil' } } }, 'teacher.endpoint.url'],
    ['tasks', { train: ['/etc/passwd'] }, 'tasks.train'],
    ['data', { sources: [{ from: 'query', query: 'SELECT 1' }] }, 'data.sources.0.query'],
    ['sampler', { priority: { sql: 'SELECT 1' } }, 'sampler.priority.sql'],
    ['aFieldOfTomorrow', '/tmp/evil', 'aFieldOfTomorrow'],
  ])('refuses a recipe whose %s is %j, naming the field', (section, value, field) => {
    const recipe = { ...resolveRecipe('bandit-ppo'), [section]: value } as unknown as Recipe;
    expect(() => {
      requireInside(recipe);
    }).toThrow(
      expect.objectContaining({
        code: 'RECIPE_INVALID',
        message: expect.stringMatching(
          new RegExp(`${field}: got .*, must be as in a built-in recipe`),
        ) as string,
      }),
    );
  });
});
