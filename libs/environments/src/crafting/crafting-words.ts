import { wordsOf } from '../text-world/text-world.js';
import { idOf } from './crafting.js';

/** An item is a material and a form: `ash panel`. */
export const MATERIALS: readonly string[] = [
  'ash', 'birch', 'cedar', 'clay', 'copper', 'ember', 'flint', 'frost',
  'glass', 'iron', 'jade', 'marble', 'moss', 'pearl', 'silver', 'tin',
]; // prettier-ignore

export const FORMS: readonly string[] = [
  'bead', 'beam', 'bolt', 'chain', 'cord', 'disk', 'frame', 'hinge',
  'lamp', 'lens', 'mesh', 'panel', 'peg', 'plate', 'rod', 'tile',
]; // prettier-ignore

/** Name of the tag of all items of a form that share it. */
export function tagOf(form: string): string {
  return form === 'mesh' || form === 'lens' ? `${form}es` : `${form}s`;
}

export const ITEMS: readonly string[] = MATERIALS.flatMap((material) =>
  FORMS.map((form) => `${material} ${form}`),
);

/** Largest number of the vocabulary. */
const MAX_NUMBER = 64;

/** Every word that observations say in a world of a closed vocabulary, and all that its actions need. */
export const CRAFTING_WORDS: readonly string[] = wordsOf([
  'Crafting commands: craft using get inventory Goal: Inventory: You are not carrying anything. ?',
  'Got Crafted Could not find enough items to a valid recipe for execute Wrong item format:',
  ...MATERIALS.flatMap((material) => [material, `[${material}`]),
  ...FORMS.flatMap((form) => [form, `${form},`, `${form}.`, `${form}]`, tagOf(form), `${tagOf(form)},`]),
  ...ITEMS.map(idOf),
  ...Array.from({ length: MAX_NUMBER }, (_, i) => `${i + 1} (${i + 1})`),
]);
