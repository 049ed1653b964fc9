import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveEnvironment, resolveRecipe } from './resolve-recipe.js';

/** Nested values so many that JSON.stringify has no room for their calls. */
const NUM_LEVELS = 400_000;

describe('a file of a recipe or an environment', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-file-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };

  it.each(['broken.json', 'broken.jsonc'])('is refused where %s is not JSON, each by its words', (name) => {
    const path = write(name, '{');
    expect(() => resolveRecipe(path)).toThrow(`Recipe file "${path}" is not valid JSON: `);
    expect(() => resolveEnvironment(path)).toThrow(/^"[^"]*" is not valid JSON: /);
  });

  it.each(['mine.json', 'mine.jsonc'])('has no field of all objects: %s', (name) => {
    const path = write(name, '{ "__proto__": { "name": "mine" } }');
    for (const read of [resolveRecipe, resolveEnvironment])
      expect(() => read(path)).toThrow('Invalid recipe: unknown field "__proto__"');
  });

  it.each(['deep.json', 'deep.jsonc'])('is refused where %s is nested too deep', (name) => {
    const path = write(name, '['.repeat(NUM_LEVELS) + ']'.repeat(NUM_LEVELS));
    for (const read of [resolveRecipe, resolveEnvironment]) {
      const refused = expect.objectContaining({
        code: 'RECIPE_INVALID',
        message: 'Invalid recipe: it is nested more than 16 levels deep',
      }) as Error;
      expect(() => read(path)).toThrow(refused);
    }
  });
});
