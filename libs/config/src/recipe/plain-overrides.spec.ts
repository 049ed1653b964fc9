import { describe, expect, it } from 'vitest';
import { recipes } from '../recipes/index.js';
import { plainAssignments } from './plain-overrides.js';
import { resolveRecipe } from '../resolve/resolve-recipe.js';

describe('plainAssignments', () => {
  it('takes numbers, switches, words of a list and built-in names', () => {
    const assignments = plainAssignments({
      'optimizer.learningRate': 0.001,
      'advantage.shuffle': true,
      'context.window': 'history',
      environment: 'bandit',
      name: 'mine',
      imitation: null,
    });
    expect(resolveRecipe('bandit-ppo', { assignments })).toMatchObject({
      name: 'mine',
      environment: 'bandit',
      context: { window: 'history' },
      advantage: { shuffle: true },
      optimizer: { learningRate: 0.001 },
    });
  });

  it.each([
    ['environment', '/tmp/evil.mjs', 'must be a name'],
    ['environment', { module: '/tmp/evil.mjs' }, 'must be a number, a text'],
    ['environment.module', '/tmp/evil.mjs', 'only built-in environments'],
    ['environment.server.command', 'sh', 'only built-in environments'],
    ['agent.module', './agent.mjs', 'agent can name code'],
    ['agent.formatModule', './format.mjs', 'agent can name code'],
    ['reward.components', null, 'reward.components can name code'],
    ['reward.components.0.module', './reward.mjs', 'its name must be that of a field'],
    ['policy.model', '/etc', 'policy can name code'],
    ['tasks.train', '/etc/passwd', 'tasks can name code'],
    ['engine.kind', 'torch', 'engine can name code'],
    ['engine.python', '/tmp/evil', 'engine can name code'],
    ['engine.url', 'http://evil', 'engine can name code'],
    ['collection.endpoint.url', 'http://169.254.169.254', 'collection.endpoint can name code'],
    ['collection.endpoint.command', 'sh', 'collection.endpoint can name code'],
    ['data.sources', null, 'data can name code'],
    ['initFrom.run', 'latest', 'initFrom can name code'],
    ['__proto__.polluted', 1, 'its name must be that of a field'],
    ['optimizer.learningRate', Number.NaN, 'must be a finite number'],
    ['optimizer.learningRate', '0.1', 'a text here could name a file'],
    ['x=1\nengine.kind', 1, 'its name must be that of a field'],
  ])('refuses %s = %j, naming the field', (field, value, rule) => {
    expect(() => plainAssignments({ [field]: value as never })).toThrow(
      expect.objectContaining({ code: 'RECIPE_INVALID', message: expect.stringContaining(rule) as string }),
    );
  });

  it('takes texts of the built-in recipes only in fields that name nothing outside', () => {
    const open: string[] = [];
    const visit = (node: unknown, path: readonly string[]): void => {
      if (typeof node === 'string') {
        try {
          plainAssignments({ [path.join('.')]: node });
          open.push(path.join('.'));
        } catch {
          // Closed.
        }
      } else if (typeof node === 'object' && node !== null && !Array.isArray(node))
        for (const [name, inner] of Object.entries(node)) visit(inner, [...path, name]);
    };
    for (const create of Object.values(recipes)) visit(create(), []);
    expect([...new Set(open)].sort()).toEqual([
      ...[
        'advantage.estimator',
        'compute.matMulPrecision',
        'context.tokenizer',
        'context.window',
        'environment',
      ],
      ...[
        'imitation.agent',
        'loss.aggregation',
        'loss.kl.estimator',
        'loss.kl.in',
        'name',
        'preference.loss',
      ],
      'reward.allocation',
    ]);
  });
});
