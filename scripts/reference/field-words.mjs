/** Makes the words of `retrace recipes X --explain` from the docstrings of the recipe classes. */

/** Descriptions by path from the recipe's root, as in "loss.rolloutCorrection.rejection[].low"; the source of a module. */
export function fieldWords(classes) {
  const words = Object.fromEntries(wordsOf(classes, 'Recipe', ''));
  return `/* Made from the docstrings of the recipe classes by \`npm run reference\`. */
/** Words on each field of a recipe, by its path. */
export const FIELD_WORDS: Readonly<Record<string, string>> = ${JSON.stringify(words)};
`;
}

function wordsOf(classes, name, prefix) {
  return classes.get(name).fields.flatMap((field) => {
    const path = `${prefix}${field.name}`;
    const isList = field.rules.some(({ name: rule }) => rule === 'isArray');
    const inside = field.nested ? wordsOf(classes, field.nested, `${path}${isList ? '[]' : ''}.`) : [];
    return [[path, field.description], ...inside];
  });
}
