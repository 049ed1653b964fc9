import { describe, expect, it } from 'vitest';
import { commandsNamed, findCommands, FIXED_COMMANDS, groupCommands, type PaletteCommand } from './commands';

const ID = '01a229b3-6fa8-77a4-9999-63aaa0ea8ae4';

const command = (label: string, more: Partial<PaletteCommand> = {}): PaletteCommand => ({
  ...{ group: 'Pages', label, effect: { kind: 'open', address: `/${label}` } },
  ...more,
});

describe('findCommands', () => {
  const commands = [
    command('Open updates'),
    command('An update'),
    command('Updates', { detail: 'bandit' }),
    command('Rare update', { isRare: true }),
    command('Runs'),
  ];
  const labels = (typed: string) => findCommands(commands, typed).map(({ label }) => label);

  it('shows all that are not rare, and rare ones where they are asked for', () => {
    expect(labels('')).toEqual(['Open updates', 'An update', 'Updates', 'Runs']);
    expect(labels('rare')).toEqual(['Rare update']);
  });

  it('takes every word, in any order and case, also of what is said about a command', () => {
    expect(labels('BANDIT up')).toEqual(['Updates']);
    expect(labels('bandit runs')).toEqual([]);
  });

  it('puts labels that begin with what was typed first', () => {
    expect(labels('up')).toEqual(['Updates', 'Open updates', 'An update', 'Rare update']);
  });
});

describe('commandsNamed', () => {
  const trained = { runId: 'r1', kind: 'trained', policyVersion: 3 } as const;
  const effects = (typed: string, run?: Parameters<typeof commandsNamed>[1]) =>
    commandsNamed(typed, run).map(({ effect }) => effect);

  it('takes the number of an update and a part of an id within a run only', () => {
    expect(effects('37', trained)).toEqual([{ kind: 'open', address: '/runs/r1/updates/37' }]);
    expect(effects('A0EA8AE4', trained)).toEqual([{ kind: 'open', address: '/runs/r1/episodes/a0ea8ae4' }]);
    expect(effects('37', { ...trained, kind: 'recorded', policyVersion: null })).toEqual([]);
    expect(effects('37')).toEqual([]);
    expect(effects('a0ea8ae4')).toEqual([]);
    expect(effects('bandit', trained)).toEqual([]);
  });

  it('takes an event, and a time in its zone', () => {
    expect(effects(ID)).toEqual([{ kind: 'showEvent', eventId: ID }]);
    expect(effects(ID.toUpperCase(), trained)).toEqual([{ kind: 'showEvent', eventId: ID }]);
    expect(effects('2026-11-29 17:38Z')).toEqual([{ kind: 'showMoment', moment: '2026-11-29T17:38:00Z' }]);
  });
});

it('groups commands in the order in which their groups come first, each with a label of its own', () => {
  const one = command('a', { group: 'B' });
  const groups = groupCommands([one, command('b', { group: 'A' }), command('c', { group: 'B' })]);
  expect(groups.map(({ name, commands }) => [name, commands.length])).toEqual([
    ['B', 2],
    ['A', 1],
  ]);
  const labels = FIXED_COMMANDS.map(({ group, label }) => `${group} ${label}`);
  expect(new Set(labels).size).toBe(labels.length);
});
