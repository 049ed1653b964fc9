import { wordsOf } from '../text-world/text-world.js';
import { toItemId } from './crafting.js';

/** Names of items: one word, or a material and a form, such as `ash panel`. */
export interface ItemNames {
  readonly items: readonly string[];
  /** Materials and forms of the items that have two words, of which tags are made; both empty where items have one word. */
  readonly materials: readonly string[];
  readonly forms: readonly string[];
}

const MATERIALS: readonly string[] = [
  'ash', 'birch', 'cedar', 'clay', 'copper', 'ember', 'flint', 'frost',
  'glass', 'iron', 'jade', 'marble', 'moss', 'pearl', 'silver', 'tin',
]; // oxfmt-ignore

const FORMS: readonly string[] = [
  'bead', 'beam', 'bolt', 'chain', 'cord', 'disk', 'frame', 'hinge',
  'lamp', 'lens', 'mesh', 'panel', 'peg', 'plate', 'rod', 'tile',
]; // oxfmt-ignore

/** Name of the tag of all items of a form that share it. */
export function toTag(form: string): string {
  return form === 'mesh' || form === 'lens' ? `${form}es` : `${form}s`;
}

/** 256 items of two words. */
export const TWO_WORD_NAMES: ItemNames = {
  items: MATERIALS.flatMap((material) => FORMS.map((form) => `${material} ${form}`)),
  materials: MATERIALS,
  forms: FORMS,
};

/** 32 items of one word, without tags: a word says which item it is, so looking a recipe up and copying it is easier to learn. */
export const ONE_WORD_NAMES: ItemNames = { items: [...MATERIALS, ...FORMS], materials: [], forms: [] };

/** Largest number of the vocabulary. */
const MAX_NUMBER = 64;

/** Every word that observations say in a world of a closed vocabulary, and all that its actions need. */
export function craftingWords(names: ItemNames): string[] {
  return wordsOf([
    'Crafting commands: craft using get inventory Goal: Inventory: You are not carrying anything. ?',
    'Got Crafted Could not find enough items to a valid recipe for execute Wrong item format:',
    ...names.materials.flatMap((material) => [material, `[${material}`]),
    ...names.forms.flatMap((form) => [
      form,
      `${form},`,
      `${form}.`,
      `${form}]`,
      toTag(form),
      `${toTag(form)},`,
    ]),
    ...names.items.flatMap((item) => [item, `[${item}]`, `${item},`, `${item}.`]),
    ...names.items.map(toItemId),
    ...Array.from({ length: MAX_NUMBER }, (_, i) => `${i + 1} (${i + 1})`),
  ]);
}
