import { deriveSeed, Pcg32 } from '@retrace/random';
import type { EnvironmentSpec } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { randomAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { requireInteger } from '../require-integer.js';
import { drawHouseholdTask, drawRooms, type RoomSize } from './draw-household.js';
import { householdExpert, householdSearcher } from './household-agents.js';
import type { HouseholdDialect } from './household-rules.js';
import { HOUSEHOLD_FAMILIES, parseHouseholdTask, type HouseholdFamily } from './household-task.js';
import { HOUSEHOLD_WORDS } from './household-words.js';
import { HouseholdWorld } from './household.js';

export interface HouseholdRules {
  readonly name: string;
  /** Language of ALFWorld since 0.4 (`move`, the default) or before (`put`). */
  readonly dialect?: HouseholdDialect;
  /** Families of tasks, each drawn as often as the others (default all six). */
  readonly families?: readonly HouseholdFamily[];
  /** Rooms with 12 to 30 receptacles (`large`, the default) or with 4 to 9. */
  readonly rooms?: RoomSize;
  /** Actions after which an episode is cut (default 50). */
  readonly maxSteps?: number;
}

const words = new Set(HOUSEHOLD_WORDS);

/**
 * Makes a household with the given language, families and rooms; give it to `defineEnvironment`. Of the 30 rooms of each kind, 6 are only in
 * the test split; validation has other tasks in the rooms of training.
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` for an unknown dialect, size or family, no family, or maxSteps outside 1 to 1000
 */
export function householdSpec(rules: HouseholdRules): EnvironmentSpec {
  const {
    name,
    dialect = 'move',
    families = HOUSEHOLD_FAMILIES,
    rooms: size = 'large',
    maxSteps = 50,
  } = rules;
  requireInteger('maxSteps', maxSteps, { least: 1, most: 1000 });
  requireOneOf('dialect', [dialect], ['move', 'put']);
  requireOneOf('rooms', [size], ['large', 'small']);
  requireOneOf('families', families, HOUSEHOLD_FAMILIES);
  const rooms = {
    kitchen: drawRooms('kitchen', size),
    livingroom: drawRooms('livingroom', size),
    bedroom: drawRooms('bedroom', size),
    bathroom: drawRooms('bathroom', size),
  };
  return {
    name,
    description: `ALFWorld in text: ${families.join(', ')} in ${size} rooms, at most ${maxSteps} actions`,
    maxSteps,
    words: HOUSEHOLD_WORDS,
    actionWords: null,
    splitsAreDisjoint: true,
    offersAnchors: true,
    create: () => new HouseholdWorld({ world: name, dialect, maxSteps, words }),
    sampleTask({ split, index, seed }) {
      const taskSeed = deriveSeed(name, seed, split, index);
      const task = drawHouseholdTask(new Pcg32(taskSeed), split, { families, size, rooms });
      return { task: { ...task }, seed: taskSeed };
    },
    familyOf: (task) => parseHouseholdTask(task).task.family,
    agents: [randomAgent([]), householdSearcher, householdExpert],
  };
}

function requireOneOf(field: string, values: readonly string[], known: readonly string[]): void {
  const unknown = values.find((value) => !known.includes(value));
  if (unknown === undefined && values.length > 0) return;
  const value = unknown === undefined ? 'empty' : JSON.stringify(unknown);
  throw new EnvironmentError('INVALID_ARGUMENT', `${field} is ${value}, must be of ${known.join(', ')}`);
}

/** All six families in the language of ALFWorld 0.4, as verl-agent and OpenManus-RL play it. */
export const household = defineEnvironment(householdSpec({ name: 'household' }));

/** The same in the language of ALFWorld 0.3, as AgentGym and older data have it. */
export const householdPut = defineEnvironment(householdSpec({ name: 'household-put', dialect: 'put' }));

/** Two families in small rooms, for policies that are trained from random weights. */
export const householdSmall = defineEnvironment(
  householdSpec({ name: 'household-small', families: ['place', 'clean'], rooms: 'small', maxSteps: 20 }),
);
