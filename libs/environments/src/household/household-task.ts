import { isJsonObject, type Json } from '@retrace/trajectory';
import { hashText } from '@retrace/random';
import { EnvironmentError } from '../errors.js';
import { LAMP, RECEPTACLE_KINDS, ROOM_KINDS, THING_KINDS } from './household-kinds.js';

/** Families of tasks; ALFWorld's names are in the README. */
export const HOUSEHOLD_FAMILIES = [
  'place',
  'place-two',
  'examine-in-light',
  'clean',
  'heat',
  'cool',
] as const;
export type HouseholdFamily = (typeof HOUSEHOLD_FAMILIES)[number];

/** A task as JSON. */
export interface HouseholdTask {
  readonly family: HouseholdFamily;
  readonly room: string;
  /** Kind of the things that the task is about. */
  readonly thing: string;
  /** Kind of the receptacle where they belong, or of the lamp. */
  readonly target: string;
  /** Which of the two sentences says the task: 0 or 1. */
  readonly wording: number;
  /** Kinds of the receptacles with how many there are of each. */
  readonly receptacles: Readonly<Record<string, number>>;
  /** Things: kind, and the receptacle that it is in at first, such as `cabinet 2`. Those of a kind are numbered in this order. */
  readonly things: readonly (readonly [kind: string, place: string])[];
}

/** Something with a kind and a name, such as `mug 2`. */
export interface Named {
  readonly kind: string;
  readonly name: string;
}

/** A checked task. Receptacles and things are in the order in which they are listed: by kind, and the largest number first. */
export interface Household {
  readonly task: HouseholdTask;
  readonly hash: string;
  readonly receptacles: readonly Named[];
  readonly things: readonly Named[];
  /** Index of the receptacle that each thing is in at first. */
  readonly places: readonly number[];
}

const MAX_OF_A_KIND = 9;

/**
 * Reads a task.
 *
 * @throws EnvironmentError `INVALID_TASK` unless kinds are known, there are 1 to 9 receptacles of each kind that is listed, at most 9 things of
 * a kind, places exist, the target is one of the receptacles that the thing fits into (a lamp for `examine-in-light`), and things of the task's kind are enough
 */
export function parseHouseholdTask(task: Json): Household {
  const fields = (isJsonObject(task) ? task : {}) as Partial<Record<keyof HouseholdTask, Json>>;
  const { family, room, thing, target, wording } = fields;
  requireOne('family', family, HOUSEHOLD_FAMILIES);
  requireOne('room', room, ROOM_KINDS);
  requireOne('thing', thing, Object.keys(THING_KINDS));
  requireOne('wording', wording, [0, 1]);
  const receptacles = parseReceptacles(fields.receptacles);
  const targets = receptacles
    .map(({ kind }) => kind)
    .filter((kind) => THING_KINDS[thing as string].fits.has(kind));
  requireOne('target', target, family === 'examine-in-light' ? [LAMP] : targets);
  const placed = parseThings(fields.things, receptacles);
  const things = inOrder(placed);
  const numNeeded = family === 'place-two' ? 2 : 1;
  const numOf = (kind: Json | undefined): number => things.filter((named) => named.kind === kind).length;
  if (numOf(thing) < numNeeded) throw fault('thing', thing, `be the kind of ${numNeeded} of the things`);
  if (family === 'examine-in-light' && numOf(LAMP) === 0) throw fault('things', null, `have a ${LAMP}`);
  return {
    task: task as unknown as HouseholdTask,
    hash: hashText(JSON.stringify(task)).toString(36),
    receptacles,
    things,
    places: things.map(({ place }) => place),
  };
}

function parseReceptacles(value: Json | undefined): Named[] {
  const isCount = (count: Json): boolean =>
    Number.isSafeInteger(count) && (count as number) >= 1 && (count as number) <= MAX_OF_A_KIND;
  if (!isJsonObject(value) || !Object.values(value).every(isCount)) {
    throw fault('receptacles', value, `be an object from kinds to numbers from 1 to ${MAX_OF_A_KIND}`);
  }
  for (const kind of Object.keys(value)) requireOne('receptacles', kind, RECEPTACLE_KINDS);
  return inOrder(
    Object.entries(value).flatMap(([kind, count]) =>
      Array.from({ length: count as number }, (_, i) => ({ kind, name: `${kind} ${i + 1}` })),
    ),
  );
}

function parseThings(
  value: Json | undefined,
  receptacles: readonly Named[],
): (Named & { readonly place: number })[] {
  if (!Array.isArray(value)) throw fault('things', value, 'be a list');
  const counts = new Map<string, number>();
  return value.map((entry: Json) => {
    const [kind, place] = (Array.isArray(entry) ? entry : []) as Json[];
    requireOne('things', kind, [LAMP, ...Object.keys(THING_KINDS)]);
    const index = receptacles.findIndex(({ name }) => name === place);
    if (index < 0) throw fault('things', entry, 'be pairs of a kind and the name of a receptacle');
    const number = (counts.get(kind as string) ?? 0) + 1;
    if (number > MAX_OF_A_KIND) throw fault('things', kind, `be at most ${MAX_OF_A_KIND} of a kind`);
    counts.set(kind as string, number);
    return { kind: kind as string, name: `${kind as string} ${number}`, place: index };
  });
}

/** The order in which ALFWorld lists: by kind, and of a kind the largest number first. */
function inOrder<T extends Named>(all: readonly T[]): T[] {
  const numberOf = ({ name }: Named): number => Number(name.slice(name.lastIndexOf(' ') + 1));
  return [...all].sort((a, b) => (a.kind === b.kind ? numberOf(b) - numberOf(a) : a.kind < b.kind ? -1 : 1));
}

function requireOne(field: string, value: Json | undefined, known: readonly (string | number)[]): void {
  if (!known.includes(value as string)) throw fault(field, value, `be one of ${known.join(', ')}`);
}

function fault(field: string, value: unknown, rule: string): EnvironmentError {
  return new EnvironmentError('INVALID_TASK', `task.${field} is ${JSON.stringify(value)}, must ${rule}`);
}
