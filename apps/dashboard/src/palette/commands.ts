import { readTime } from '../as-of/moment';
import type { RunDetail } from '../api-types/schema';
import { hasPage, pagesOfRun } from '../runs/run-pages';
import { EXAMPLES } from '../sql/examples';
import type { ThemeChoice } from '../theme/use-theme';

/** Effect of a command. */
export type CommandEffect =
  | { readonly kind: 'open'; readonly address: string }
  /** A page outside of the dashboard. */
  | { readonly kind: 'leave'; readonly address: string }
  | { readonly kind: 'theme'; readonly choice: ThemeChoice }
  /** Null: now. */
  | { readonly kind: 'showMoment'; readonly moment: string | null }
  | { readonly kind: 'showEvent'; readonly eventId: string }
  | { readonly kind: 'help' };

export interface PaletteCommand {
  readonly group: string;
  readonly label: string;
  /** More about it, which is searched, too. */
  readonly detail?: string;
  /** Shown only where it is asked for: one of many. */
  readonly isRare?: boolean;
  readonly effect: CommandEffect;
}

const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The API takes a part of an id where it is that of one only. */
const PART_OF_ID = /^[0-9a-f-]{8,36}$/i;
const UPDATE_NUMBER = /^\d{1,7}$/;

const open = (address: string): CommandEffect => ({ kind: 'open', address });

/** Pages of the run that is shown. */
export function commandsOfRun(run: RunDetail): readonly PaletteCommand[] {
  return pagesOfRun(run, false).map(({ label, path }) => ({
    group: 'This run',
    label,
    detail: run.name,
    effect: open(path === '' ? `/runs/${run.runId}` : `/runs/${run.runId}/${path}`),
  }));
}

const PAGES: readonly PaletteCommand[] = [
  { label: 'Runs', address: '/' },
  { label: 'Newest run', address: '/live' },
  { label: 'Alarms', address: '/alarms' },
  { label: 'Evaluations', address: '/plays' },
  { label: 'Data sets', address: '/datasets' },
  { label: 'SQL', address: '/sql' },
  { label: 'Notebooks', address: '/sql/notebooks' },
].map(({ label, address }) => ({ group: 'Pages', label, effect: open(address) }));

const OUTSIDE: readonly PaletteCommand[] = [
  { group: 'Pages', label: 'API reference', effect: { kind: 'leave', address: '/api' } },
  { group: 'Pages', label: 'Documentation', effect: { kind: 'leave', address: '/docs/' } },
];

const SETTINGS: readonly PaletteCommand[] = [
  { group: 'Settings', label: 'Light theme', effect: { kind: 'theme', choice: 'light' } },
  { group: 'Settings', label: 'Dark theme', effect: { kind: 'theme', choice: 'dark' } },
  { group: 'Settings', label: 'Theme of the system', effect: { kind: 'theme', choice: 'system' } },
  { group: 'Settings', label: 'Keyboard', detail: 'keys, shortcuts', effect: { kind: 'help' } },
];

const QUERIES: readonly PaletteCommand[] = EXAMPLES.flatMap(({ title: detail, queries }) =>
  queries.map(({ title, query }) => ({
    ...{ group: 'SQL', label: title, detail, isRare: true },
    effect: open(`/sql?${new URLSearchParams({ query }).toString()}`),
  })),
);

/** Commands that are the same on every page. */
export const FIXED_COMMANDS: readonly PaletteCommand[] = [...PAGES, ...OUTSIDE, ...SETTINGS, ...QUERIES];

/**
 * Commands that what was typed names itself: an id or the number of an update, a time.
 *
 * @param run the one that is shown
 */
export function commandsNamed(
  typed: string,
  run: Pick<RunDetail, 'runId' | 'kind' | 'policyVersion'> | undefined,
): readonly PaletteCommand[] {
  const group = 'By id';
  const commands: PaletteCommand[] = [];
  if (UPDATE_NUMBER.test(typed) && run !== undefined && hasPage(run, 'updates'))
    commands.push({ group, label: `Update ${typed}`, effect: open(`/runs/${run.runId}/updates/${typed}`) });
  // Ids are stored in lower case.
  const id = typed.toLowerCase();
  if (WHOLE_ID.test(id))
    commands.push({ group, label: `As of event ${id}`, effect: { kind: 'showEvent', eventId: id } });
  else if (PART_OF_ID.test(id) && run !== undefined)
    commands.push({ group, label: `Episode ${id}`, effect: open(`/runs/${run.runId}/episodes/${id}`) });
  const time = readTime(typed);
  if (time !== null)
    commands.push({ group: 'Time', label: `As of ${typed}`, effect: { kind: 'showMoment', moment: time } });
  return commands;
}

/** Whether a text is an id, and not a part of one. */
export function isWholeId(text: string): boolean {
  return WHOLE_ID.test(text);
}

/**
 * The commands that have every word of what was typed, those first whose label begins with it, then those with a word that does; without anything typed, those that are not rare.
 */
export function findCommands(commands: readonly PaletteCommand[], typed: string): readonly PaletteCommand[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands.filter(({ isRare }) => isRare !== true);
  const found = commands.filter(({ group, label, detail = '' }) => {
    const text = `${label} ${detail} ${group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return found
    .map((command) => ({ command, rank: computeRank(command.label.toLowerCase(), words[0]) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ command }) => command);
}

function computeRank(label: string, word: string): number {
  if (label.startsWith(word)) return 0;
  return label.includes(` ${word}`) ? 1 : 2;
}

export interface CommandGroup {
  readonly name: string;
  readonly commands: readonly PaletteCommand[];
}

/** Puts the commands under the names of their groups, in the order in which those come first. */
export function groupCommands(commands: readonly PaletteCommand[]): readonly CommandGroup[] {
  const groups = new Map<string, PaletteCommand[]>();
  for (const command of commands) {
    const group = groups.get(command.group);
    if (group === undefined) groups.set(command.group, [command]);
    else group.push(command);
  }
  return [...groups].map(([name, members]) => ({ name, commands: members }));
}
