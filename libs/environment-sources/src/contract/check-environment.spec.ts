import { describe, expect, it } from 'vitest';
import { getEnvironment, listEnvironments } from '@retrace/environments';
import { checkEnvironment } from './check-environment.js';

const SHORT = { numEpisodes: 4 };

describe('checkEnvironment', () => {
  it.each(listEnvironments().map((spec) => spec.name))('finds no broken rule in %s', async (name) => {
    const checked = await checkEnvironment(getEnvironment(name), SHORT);
    expect(checked.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('names a word that the list lacks, of a text with several lines', async () => {
    const spec = getEnvironment('crafting-mini');
    const words = spec.words?.filter((word) => word !== 'craft') ?? null;
    const checked = await checkEnvironment({ ...spec, words }, SHORT);
    expect(checked.filter(({ fault }) => fault !== null)).toEqual([
      { rule: 'words lists every word, where there is a list', fault: 'the word "craft" is not in words' },
    ]);
  });
});
