import { describe, expect, it } from 'vitest';
import { isRecipe, parseRecipe, resolveRecipe } from '../resolve/resolve-recipe.js';

describe('a list where a recipe has one object', () => {
  const plain = JSON.parse(JSON.stringify(resolveRecipe('bandit-ppo'))) as Record<string, object>;

  it.each([
    [{ distillation: [] }, 'distillation: got [], must be an object, not a list'],
    [
      { tasks: [{ train: ['a.jsonl'] }] },
      'tasks: got [{"train":["a.jsonl"]}], must be an object, not a list',
    ],
    [{ context: [plain.context] }, 'context: got [{'],
    [{ environment: [] }, 'environment: got [], must be an object, not a list'],
    [
      { loss: { ...plain.loss, kl: { adaptive: [] } } },
      'loss.kl.adaptive: got [], must be an object, not a list',
    ],
    [
      { data: { sources: [{ from: 'query', query: 'SELECT 1', contents: [] }] } },
      'data.sources.0.contents: got [], must be an object, not a list',
    ],
  ])('is refused: %j', (fields, message) => {
    expect(isRecipe({ ...plain, ...fields })).toBe(false);
    expect(() => parseRecipe({ ...plain, ...fields })).toThrow(message);
  });
});
