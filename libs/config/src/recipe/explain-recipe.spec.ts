import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listRecipes, resolveRecipe } from '../resolve/resolve-recipe.js';
import { explainRecipe } from './explain-recipe.js';
import { FIELD_WORDS } from './field-words.js';

const plain = (name: string) => JSON.parse(JSON.stringify(resolveRecipe(name))) as object;

describe('an explained recipe', () => {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-explained-'));
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });
  const read = (text: string) => {
    const path = join(directory, 'explained.jsonc');
    writeFileSync(path, text);
    return resolveRecipe(path);
  };

  it.each(listRecipes().map(({ name }) => name))('of %s is a file that means the same', async (name) => {
    const text = await explainRecipe(plain(name));
    expect(read(text)).toEqual(resolveRecipe(name));
  });

  it('says what a field is above it, and of a list of objects once', async () => {
    const components = [{ reward: 'environment' }, { reward: 'formatFollowed' }];
    const text = await explainRecipe({ seed: 1, reward: { components } });
    expect(text.split('\n')).toEqual([
      '{',
      `  // ${FIELD_WORDS.seed}`,
      '  "seed": 1,',
      `  // ${FIELD_WORDS.reward}`,
      '  "reward": {',
      `    // ${FIELD_WORDS['reward.components']}`,
      '    "components": [',
      '      {',
      `        // ${FIELD_WORDS['reward.components[].reward']}`,
      '        "reward": "environment"',
      '      },',
      '      {"reward":"formatFollowed"}',
      '    ]',
      '  }',
      '}',
    ]);
  });

  it('may end lists with commas, and a fault names its place', () => {
    const text = JSON.stringify(plain('bandit-ppo'), null, 2);
    expect(read(text.replace(/\n\}$/, ',\n}'))).toEqual(resolveRecipe('bandit-ppo'));
    expect(() => read('{\n  // a comment\n  "seed" 1\n}')).toThrow(
      /explained\.jsonc" is not valid JSON: Expected ':' after property name in JSON at position 26/,
    );
  });
});
