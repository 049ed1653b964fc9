import { wordsOf } from '../text-world/text-world.js';
import { LAMP, RECEPTACLE_KINDS, THING_KINDS } from './household-kinds.js';

/** Numbers of things and receptacles, and of places in the dialect `put`. */
const MAX_NUMBER = 60;

/** Every word that observations say, and all that actions need, in both dialects. */
export const HOUSEHOLD_WORDS: readonly string[] = wordsOf([
  '-= Welcome to TextWorld, ALFRED! =- You are in the middle of a room. Looking quickly around you, you see nothing.',
  'Your task is to: put some on two find and them look at under the examine with clean hot heat cool it',
  'Nothing happens. You arrive at loc go open close take from move in/on use slice inventory help facing Next to it,',
  'not carrying anything. carrying: The is closed. open. In it, you On pick up turn sliced using',
  "This normal cold There's nothing special about",
  'Available commands: look: say where you are inventory: what you carry (receptacle): walk there (receptacle), (receptacle)',
  '(object) (something): describe receptacle here, or carry (object): lamp',
  ...[LAMP, ...Object.keys(THING_KINDS), ...RECEPTACLE_KINDS].map((kind) => `${kind} ${kind}.`),
  ...Array.from({ length: MAX_NUMBER }, (_, i) => `${i + 1} ${i + 1}, ${i + 1}.`),
]);
