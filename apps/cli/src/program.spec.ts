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

  it.each(['up', 'train'])('%s takes steps of priority from 0 to 19, by default 10', async (name) => {
    const commandFor = async (...args: string[]) => {
      const [command] = (await createProgram([name])).commands;
      command.exitOverride().configureOutput({ writeErr: () => undefined });
      command.action(() => undefined);
      await command.parseAsync(['--recipe', 'bandit-ppo', ...args], { from: 'user' });
      return (command.opts() as { readonly nice?: number }).nice;
    };
    expect(await commandFor()).toBe(10);
    expect(await commandFor('--nice', '0')).toBe(0);
    expect(await commandFor('--nice', '19')).toBe(19);
    for (const refused of ['20', '-1', '2.5', 'low']) {
      await expect(commandFor('--nice', refused)).rejects.toThrow('must be a whole number from 0 to 19');
    }
  });

  it('loads every command for help and for names that it does not know', async () => {
    const all = await namesFor('--help');
    expect(all).toHaveLength(36);
    expect(await namesFor()).toEqual(all);
    expect(await namesFor('constructor')).toEqual(all);
    for (const name of all) expect(await namesFor(name)).toEqual([name]);
  });
});
