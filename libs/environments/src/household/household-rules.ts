import { LAMP, OPENABLE, THING_KINDS } from './household-kinds.js';
import type { Household } from './household-task.js';

/** Versions of ALFWorld's language: `move o to r` since 0.4, `put o in/on r` before. */
export type HouseholdDialect = 'move' | 'put';

/** Everything that actions change. Receptacles and things are named by their index; a type, not an interface, so that it is JSON. */
// oxlint-disable-next-line typescript/consistent-type-definitions -- an interface is not assignable to Json
export type HouseholdState = {
  /** Receptacle that the agent stands at; −1 in the middle of the room. */
  readonly at: number;
  /** Receptacle of each thing; −1 for the one that is held. */
  readonly places: readonly number[];
  /** `HOT` … `ON` of each thing. */
  readonly thingMarks: readonly number[];
  /** `OPEN` and `SEEN` of each receptacle. */
  readonly receptacleMarks: readonly number[];
};

export const HELD = -1;
export const HOT = 1;
export const COOL = 2;
export const CLEAN = 4;
export const SLICED = 8;
export const ON = 16;
export const OPEN = 1;
/** Its contents have been shown. No rule depends on it; the agent that searches does. */
export const SEEN = 2;

/** Something that can be done, with the indices of what it is done to and with; −1 where there is none. */
export interface Command {
  readonly verb:
    | 'look'
    | 'inventory'
    | 'help'
    | 'go'
    | 'examine'
    | 'examine-thing'
    | 'open'
    | 'close'
    | 'take'
    | 'put'
    | 'use'
    | 'heat'
    | 'cool'
    | 'clean'
    | 'slice';
  readonly thing: number;
  readonly receptacle: number;
}

/** Where heating, cooling and cleaning is done, and what it leaves. */
const TREATMENTS = [
  { verb: 'heat', place: 'microwave', sets: HOT, clears: COOL },
  { verb: 'cool', place: 'fridge', sets: COOL, clears: HOT },
  { verb: 'clean', place: 'sinkbasin', sets: CLEAN, clears: 0 },
] as const;

export function startHousehold({ receptacles, things, places }: Household): HouseholdState {
  return {
    at: -1,
    places,
    thingMarks: things.map(() => 0),
    receptacleMarks: receptacles.map(() => 0),
  };
}

/** Index of the thing that is held; −1 for none. */
export function heldThing({ places }: HouseholdState): number {
  return places.indexOf(HELD);
}

/** Whether things can be taken from a receptacle and put into it. */
export function isAccessible(household: Household, state: HouseholdState, receptacle: number): boolean {
  const { kind } = household.receptacles[receptacle];
  return !OPENABLE.has(kind) || (state.receptacleMarks[receptacle] & OPEN) !== 0;
}

export function fits(household: Household, thing: number, receptacle: number): boolean {
  const { kind } = household.things[thing];
  return kind !== LAMP && THING_KINDS[kind].fits.has(household.receptacles[receptacle].kind);
}

/** Everything that can be done, by the words for it. */
export function listCommands(
  household: Household,
  state: HouseholdState,
  dialect: HouseholdDialect,
): ReadonlyMap<string, Command> {
  const commands = new Map<string, Command>();
  const add = (text: string, verb: Command['verb'], thing = -1, receptacle = -1): void => {
    commands.set(text, { verb, thing, receptacle });
  };
  add('look', 'look');
  add('inventory', 'inventory');
  if (dialect === 'move') add('help', 'help');
  for (const [receptacle, { name }] of household.receptacles.entries()) {
    if (receptacle !== state.at) add(`go to ${name}`, 'go', -1, receptacle);
  }
  const held = heldThing(state);
  if (held >= 0) add(`examine ${household.things[held].name}`, 'examine-thing', held);
  if (state.at < 0) return commands;
  const { at } = state;
  const here = household.receptacles[at];
  add(`examine ${here.name}`, 'examine', -1, at);
  if (OPENABLE.has(here.kind)) {
    if (isAccessible(household, state, at)) add(`close ${here.name}`, 'close', -1, at);
    else add(`open ${here.name}`, 'open', -1, at);
  }
  if (held >= 0) addWithHeld(household, state, { dialect, held, add });
  for (const [thing, { kind, name }] of household.things.entries()) {
    if (state.places[thing] !== at) continue;
    if (kind === LAMP) add(`use ${name}`, 'use', thing);
    else if (held < 0 && isAccessible(household, state, at)) {
      add(`take ${name} from ${here.name}`, 'take', thing, at);
    }
  }
  return commands;
}

/** Adds the commands for the thing that is held, at a receptacle. */
function addWithHeld(
  household: Household,
  state: HouseholdState,
  {
    dialect,
    held,
    add,
  }: {
    readonly dialect: HouseholdDialect;
    readonly held: number;
    readonly add: (text: string, verb: Command['verb'], thing?: number, receptacle?: number) => void;
  },
): void {
  const { at } = state;
  const { kind, name } = household.things[held];
  const here = household.receptacles[at];
  const { allows } = THING_KINDS[kind];
  if (isAccessible(household, state, at) && fits(household, held, at)) {
    add(
      dialect === 'move' ? `move ${name} to ${here.name}` : `put ${name} in/on ${here.name}`,
      'put',
      held,
      at,
    );
  }
  for (const { verb, place } of TREATMENTS) {
    if (here.kind === place && allows.has(verb)) add(`${verb} ${name} with ${here.name}`, verb, held, at);
  }
  if (!allows.has('cut')) return;
  for (const [thing, other] of household.things.entries()) {
    if (state.places[thing] === at && other.kind !== LAMP && THING_KINDS[other.kind].allows.has('slice')) {
      add(`slice ${other.name} with ${name}`, 'slice', thing);
    }
  }
}

/** The state after a command that can be carried out. */
export function applyCommand(
  household: Household,
  state: HouseholdState,
  { verb, thing, receptacle }: Command,
): HouseholdState {
  const { places, thingMarks, receptacleMarks } = state;
  switch (verb) {
    case 'go': {
      const moved = { ...state, at: receptacle };
      return isAccessible(household, moved, receptacle) ? mark(moved, receptacle, SEEN) : moved;
    }
    case 'open':
      return mark(state, receptacle, OPEN | SEEN);
    case 'close':
      return {
        ...state,
        receptacleMarks: receptacleMarks.with(receptacle, receptacleMarks[receptacle] & ~OPEN),
      };
    case 'take':
      return { ...state, places: places.with(thing, HELD) };
    case 'put':
      return { ...state, places: places.with(thing, receptacle) };
    case 'use':
      return { ...state, thingMarks: thingMarks.with(thing, thingMarks[thing] | ON) };
    case 'slice':
      return { ...state, thingMarks: thingMarks.with(thing, thingMarks[thing] | SLICED) };
    case 'heat':
    case 'cool':
    case 'clean': {
      const { sets, clears } = TREATMENTS.find((treatment) => treatment.verb === verb) ?? TREATMENTS[0];
      return { ...state, thingMarks: thingMarks.with(thing, (thingMarks[thing] & ~clears) | sets) };
    }
    default:
      return state;
  }
}

function mark(state: HouseholdState, receptacle: number, marks: number): HouseholdState {
  const { receptacleMarks } = state;
  return { ...state, receptacleMarks: receptacleMarks.with(receptacle, receptacleMarks[receptacle] | marks) };
}

/** Mark that a thing of the task needs before it is put down; 0 for none. */
export function neededMark({ task }: Household): number {
  return TREATMENTS.find(({ verb }) => verb === task.family)?.sets ?? 0;
}

/** Kind of the receptacle where things get the mark that the task asks for; null for none. */
export function treatmentPlace({ task }: Household): string | null {
  return TREATMENTS.find(({ verb }) => verb === task.family)?.place ?? null;
}

/** Whether the task is solved. */
export function isSolved(household: Household, state: HouseholdState): boolean {
  const { task, things, receptacles } = household;
  const { places, thingMarks } = state;
  if (task.family === 'examine-in-light') {
    const held = heldThing(state);
    const isLit = things.some(
      ({ kind }, i) => kind === task.target && (thingMarks[i] & ON) !== 0 && places[i] === state.at,
    );
    return held >= 0 && things[held].kind === task.thing && isLit;
  }
  const wanted = neededMark(household);
  const numAt = receptacles.map(() => 0);
  for (const [i, { kind }] of things.entries()) {
    if (kind === task.thing && places[i] !== HELD && (thingMarks[i] & wanted) === wanted)
      numAt[places[i]] += 1;
  }
  const numWanted = task.family === 'place-two' ? 2 : 1;
  return receptacles.some(({ kind }, i) => kind === task.target && numAt[i] >= numWanted);
}
