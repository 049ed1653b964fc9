import { wordsOf } from '../text-world/text-world.js';
import { COLORS, DOOR_STATES, MOVABLE_KINDS } from './thing.js';

/** Largest number in observations: distances are smaller, and more things of one name do not fit into the view. */
const MAX_NUMBER = 12;

const NUMBERS = Array.from({ length: MAX_NUMBER + 1 }, (_, number) => number);

/** Words of which the first, the last or both are beside a quotation mark, comma or full stop in lists of actions. */
const LISTED_WORDS = [
  'right',
  'left',
  'forward',
  'drop',
  'toggle',
  'actions',
  'you',
  'object',
  ...NUMBERS.map(String),
];

/** Every word of observations and actions. */
export const GRID_WORDS: readonly string[] = wordsOf([
  'Your goal: go to a the pick up open put next and In front of you in this room, you can see several objects: There is on your behind you',
  'right in front of you steps away. steps to your right. left. The room has walls around you. You are facing a wall box',
  'You are not carrying anything. You are carrying a You cannot see any objects within sight.The sight. The task is completed. The task has failed.',
  'No change in state. The action is not recognized. Please check valid actions. You can take the following actions: check available',
  "There is a barrier in front of you, you can't move forward. You cannot drop the object, as you are not carrying anything.",
  'as there is already an object in front of you. as there is no path leading to it. as you are not carrying a key. as it is closed. You should',
  'toggle it first. as the color of the key you are carrying does not match the color of door.',
  'Available actions: [ [] turn left right move forward pickup drop toggle and go through ?',
  '["turn "turn "move "pickup "go "toggle "check "drop", "toggle", "drop"] "toggle"] actions"]',
  ...LISTED_WORDS.flatMap((word) => [word, `${word},`, `${word}",`]),
  ...COLORS.flatMap((color) => [color, `{'${color}`, `'${color}`]),
  ...MOVABLE_KINDS.flatMap((kind) => [kind, `${kind}.`, `${kind},`]),
  ...DOOR_STATES,
  "door door, door':",
  ...NUMBERS.map((number) => `${number}},`),
]);
