import { hasPage } from '../runs/run-pages';

/** Pages that `g` and a letter go to. */
export type KeyTarget = 'runs' | 'updates' | 'episodes' | 'metrics' | 'sql';

/** Effect of a key; the browser itself has that of `native`. */
export type KeyAction =
  | { readonly kind: 'move'; readonly by: 1 | -1 }
  | { readonly kind: 'neighbour'; readonly rel: 'prev' | 'next' }
  | { readonly kind: 'search' | 'help' | 'palette' | 'native' }
  | { readonly kind: 'goTo'; readonly target: KeyTarget };

export interface KeyRow {
  /** Pressed one after the other, each as `KeyboardEvent.key` names it. */
  readonly keys: readonly string[];
  /** Held with Ctrl, or with the command key of a Mac. */
  readonly isChord?: boolean;
  readonly where: string;
  readonly does: string;
  readonly action: KeyAction;
}

/** Longest time between the two keys of a sequence. */
export const SEQUENCE_MS = 1_500;

const LISTS = 'Lists and steps';
const BESIDE = 'An update, or an episode of a group';
const ANYWHERE = 'Anywhere';
const IN_RUN = 'Pages of a run';

/** All keys: their handlers and the dialog that explains them follow from this table. */
export const KEYS: readonly KeyRow[] = [
  { keys: ['j'], where: LISTS, does: 'Go to the next row or step', action: { kind: 'move', by: 1 } },
  { keys: ['k'], where: LISTS, does: 'Go to the previous row or step', action: { kind: 'move', by: -1 } },
  { keys: ['Enter'], where: LISTS, does: 'Open the row', action: { kind: 'native' } },
  {
    keys: ['['],
    where: BESIDE,
    does: 'Open the previous one',
    action: { kind: 'neighbour', rel: 'prev' },
  },
  { keys: [']'], where: BESIDE, does: 'Open the next one', action: { kind: 'neighbour', rel: 'next' } },
  { keys: ['/'], where: 'Lists and metrics', does: 'Go to the search field', action: { kind: 'search' } },
  {
    keys: ['g', 'r'],
    where: ANYWHERE,
    does: 'Open the list of runs',
    action: { kind: 'goTo', target: 'runs' },
  },
  { keys: ['g', 's'], where: ANYWHERE, does: 'Open the SQL page', action: { kind: 'goTo', target: 'sql' } },
  { keys: ['g', 'u'], where: IN_RUN, does: 'Open its updates', action: { kind: 'goTo', target: 'updates' } },
  {
    keys: ['g', 'e'],
    where: IN_RUN,
    does: 'Open its episodes',
    action: { kind: 'goTo', target: 'episodes' },
  },
  { keys: ['g', 'm'], where: IN_RUN, does: 'Open its metrics', action: { kind: 'goTo', target: 'metrics' } },
  {
    keys: ['k'],
    isChord: true,
    where: ANYWHERE,
    does: 'Find pages, runs and commands',
    action: { kind: 'palette' },
  },
  { keys: ['?'], where: ANYWHERE, does: 'Show these keys', action: { kind: 'help' } },
  { keys: ['Escape'], where: 'Dialogs', does: 'Close the dialog', action: { kind: 'native' } },
];

/** Modifiers of a key as the browser reports them, and where it was pressed. */
export interface KeyModifiers {
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  /** AltGr was held. */
  readonly isAltGraph: boolean;
  readonly isMac: boolean;
  /** The key belongs to a field or an editor. */
  readonly isTyping: boolean;
}

/** Whether a key counts alone, with Ctrl or the command key, or not at all. */
export function readModifiers(given: KeyModifiers): 'single' | 'chord' | null {
  const { ctrlKey, metaKey, altKey, shiftKey, isAltGraph, isMac, isTyping } = given;
  // AltGr, and Option on a Mac, are part of writing `[` on many layouts; AltGr comes with Ctrl and Alt on Windows.
  const writes = isAltGraph || (isMac && altKey && !ctrlKey && !metaKey);
  if (writes || !(ctrlKey || metaKey || altKey)) return isTyping ? null : 'single';
  if (altKey || shiftKey) return null;
  // In a field of a Mac, Ctrl+K cuts the rest of the line.
  return isMac && isTyping && !metaKey ? null : 'chord';
}

/** Keys of a sequence that were pressed so far, and when the last of them was, in ms on the clock of the events. */
export interface PressedKeys {
  readonly keys: readonly string[];
  readonly atMs: number;
}

export const NO_KEYS: PressedKeys = { keys: [], atMs: 0 };

/**
 * Takes the next key without modifiers.
 *
 * @returns what to do, null for nothing; and what was pressed of a sequence that goes on
 */
export function pressKey(
  pressed: PressedKeys,
  key: string,
  atMs: number,
): { readonly action: KeyAction | null; readonly pressed: PressedKeys } {
  const goesOn = pressed.keys.length > 0 && atMs - pressed.atMs <= SEQUENCE_MS;
  const keys = goesOn ? [...pressed.keys, key] : [key];
  const starting = KEYS.filter((row) => !row.isChord && keys.every((one, place) => one === row.keys[place]));
  const complete = starting.find((row) => row.keys.length === keys.length);
  if (complete) return { action: complete.action, pressed: NO_KEYS };
  if (starting.length > 0) return { action: null, pressed: { keys, atMs } };
  // A key that continues no sequence counts for itself.
  return goesOn ? pressKey(NO_KEYS, key, atMs) : { action: null, pressed: NO_KEYS };
}

/** Effect of a key that is held with Ctrl or the command key; null for none. */
export function pressChord(key: string): KeyAction | null {
  return KEYS.find((row) => row.isChord && row.keys[0] === key.toLowerCase())?.action ?? null;
}

/**
 * Address that a sequence goes to; null where the page belongs to a run and none is shown, or that run has no such page.
 *
 * @param run that run, where it is loaded
 */
export function addressOfTarget(
  target: KeyTarget,
  runId: string | undefined,
  run: Parameters<typeof hasPage>[0] | undefined,
): string | null {
  if (target === 'runs') return '/';
  if (target === 'sql') return '/sql';
  if (runId === undefined || (run !== undefined && !hasPage(run, target))) return null;
  return `/runs/${runId}/${target}`;
}
