import { LAMP, OPENABLE, THING_KINDS } from './household-kinds.js';
import {
  CLEAN,
  COOL,
  heldThing,
  HOT,
  isAccessible,
  SLICED,
  type Command,
  type HouseholdDialect,
  type HouseholdState,
} from './household-rules.js';
import type { Household, HouseholdFamily, Named } from './household-task.js';

/** The answer to whatever can't be done. */
export const NOTHING_HAPPENS = 'Nothing happens.';

const TASK_SENTENCES: Readonly<
  Record<HouseholdFamily, readonly ((thing: string, target: string) => string)[]>
> = {
  place: [
    (thing, target) => `put a ${thing} in ${target}`,
    (thing, target) => `put some ${thing} on ${target}`,
  ],
  'place-two': [
    (thing, target) => `put two ${thing} in ${target}`,
    (thing, target) => `find two ${thing} and put them in ${target}`,
  ],
  'examine-in-light': [
    (thing, lamp) => `look at ${thing} under the ${lamp}`,
    (thing, lamp) => `examine the ${thing} with the ${lamp}`,
  ],
  clean: treat('clean', 'clean'),
  heat: treat('hot', 'heat'),
  cool: treat('cool', 'cool'),
};

function treat(adjective: string, verb: string): ((thing: string, target: string) => string)[] {
  return [
    (thing, target) => `put a ${adjective} ${thing} in ${target}`,
    (thing, target) => `${verb} some ${thing} and put it in ${target}`,
  ];
}

/** The first observation: the receptacles and the task. */
export function introText({ task, receptacles }: Household): string {
  const sentence = TASK_SENTENCES[task.family][task.wording](task.thing, task.target);
  return `-= Welcome to TextWorld, ALFRED! =-\n\n${roomText(receptacles)}\n\nYour task is to: ${sentence}.`;
}

/** The answer to a command that was carried out. @param state after it */
export function answerText(
  household: Household,
  state: HouseholdState,
  { command: { verb, thing, receptacle }, dialect }: { command: Command; dialect: HouseholdDialect },
): string {
  const { receptacles, things } = household;
  const name = things[thing]?.name;
  const place = receptacles[receptacle]?.name;
  switch (verb) {
    case 'look':
      return state.at < 0
        ? roomText([])
        : `You are facing the ${receptacles[state.at].name}. Next to it, you see nothing.`;
    case 'inventory': {
      const held = heldThing(state);
      return held < 0 ? 'You are not carrying anything.' : `You are carrying: a ${things[held].name}.`;
    }
    case 'help':
      return HELP;
    case 'go': {
      const arrived = dialect === 'move' ? place : `loc ${receptacle + 1}`;
      return `You arrive at ${arrived}. ${receptacleText(household, state, receptacle)}`;
    }
    case 'examine':
      return receptacleText(household, state, receptacle);
    case 'examine-thing':
      return thingText(things[thing], state.thingMarks[thing]);
    case 'open':
      return `You open the ${place}. ${receptacleText(household, state, receptacle)}`;
    case 'close':
      return `You close the ${place}.`;
    case 'take':
      return `You pick up the ${name} from the ${place}.`;
    case 'put':
      return dialect === 'move'
        ? `You move the ${name} to the ${place}.`
        : `You put the ${name} in/on the ${place}.`;
    case 'use':
      return `You turn on the ${name}.`;
    case 'slice':
      return `You sliced the ${name} with the ${things[heldThing(state)].name}.`;
    default:
      return `You ${verb} the ${name} using the ${place}.`;
  }
}

function roomText(receptacles: readonly Named[]): string {
  return `You are in the middle of a room. Looking quickly around you, you see ${listed(receptacles)}.`;
}

function receptacleText(household: Household, state: HouseholdState, receptacle: number): string {
  const { kind, name } = household.receptacles[receptacle];
  if (!isAccessible(household, state, receptacle)) return `The ${name} is closed.`;
  const contents = household.things.filter((_, thing) => state.places[thing] === receptacle);
  const opening = OPENABLE.has(kind) ? `The ${name} is open. In it` : `On the ${name}`;
  return `${opening}, you see ${listed(contents)}.`;
}

/** ALFWorld says `cold` where a thing is cool and nothing else, and of a vessel never more than that it is one. */
function thingText({ kind, name }: Named, marks: number): string {
  if (kind !== LAMP && THING_KINDS[kind].allows.has('hold')) {
    return `This is a normal ${name}. In it, you see nothing.`;
  }
  if (marks === COOL) return `This is a cold ${name}.`;
  const heat = (marks & HOT) !== 0 ? ['hot'] : (marks & COOL) !== 0 ? ['cool'] : [];
  const states = [...heat, ...((marks & CLEAN) !== 0 ? ['clean'] : [])].join(' and ');
  const adjectives = [states, (marks & SLICED) !== 0 ? 'sliced' : ''].filter((text) => text !== '').join(' ');
  return adjectives === '' ? `There's nothing special about ${name}.` : `This is a ${adjectives} ${name}.`;
}

/** `a mug 2, a mug 1, and a pen 1`, with a comma before `and` even between two. */
function listed(all: readonly Named[]): string {
  if (all.length === 0) return 'nothing';
  const names = all.map(({ name }) => `a ${name}`);
  return all.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')}, and ${names[names.length - 1]}`;
}

/** Our own words for what ALFWorld's `help` lists. */
const HELP = [
  'Available commands:',
  'look: say where you are',
  'inventory: say what you carry',
  'go to (receptacle): walk there',
  'open (receptacle), close (receptacle)',
  'take (object) from (receptacle), move (object) to (receptacle)',
  'examine (something): describe the receptacle here, or what you carry',
  'use (object): turn on a lamp',
  'heat (object) with (receptacle), cool (object) with (receptacle), clean (object) with (receptacle)',
  'slice (object) with (object)',
].join('\n');
