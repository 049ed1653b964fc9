import { describe, expect, it } from 'vitest';
import { createProgram } from './program.js';

const namesFor = async (...args: string[]) =>
  (await createProgram(args)).commands.map((command) => command.name());

describe('createProgram', () => {
  it('loads only the definition of the command that the arguments name', async () => {
    expect(await namesFor('sql', '--help')).toEqual(['sql']);
    expect(await namesFor('save-policy')).toEqual(['save-policy']);
    expect(await namesFor('--version')).toEqual([]);
  });

  it('loads every command for help and for names that it does not know', async () => {
    const all = await namesFor('--help');
    expect(all).toHaveLength(30);
    expect(await namesFor()).toEqual(all);
    expect(await namesFor('constructor')).toEqual(all);
    for (const name of all) expect(await namesFor(name)).toEqual([name]);
  });
});
