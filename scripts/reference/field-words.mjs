/** Makes the words of `retrace recipes X --explain` from the docstrings of the recipe classes. */

/** Descriptions by path from the recipe's root, as in "loss.rolloutCorrection.rejection[].low", and the defaults of the fields for experts; the source of a module. */
export function fieldWords(classes) {
  const fields = fieldsByPath(classes, 'Recipe', { prefix: '', isInside: false });
  const words = Object.fromEntries(fields.map(([path, { description }]) => [path, description]));
  const experts = fields.filter(([, { isAdvanced }]) => isAdvanced);
  const defaults = Object.fromEntries(
    experts.map(([path, { defaultValue }]) => [path, JSON.parse(defaultValue ?? 'null')]),
  );
  return `/* Made from the docstrings of the recipe classes by \`npm run reference\`. */
/** Words on each field of a recipe, by its path. */
export const FIELD_WORDS: Readonly<Record<string, string>> = ${JSON.stringify(words)};
/** Defaults of the fields for experts, by their path; null where absent means null or nothing. */
export const EXPERT_DEFAULTS: Readonly<Record<string, unknown>> = ${JSON.stringify(defaults)};
`;
}

/** Fields with their paths; those in a field for experts are for experts too. */
function fieldsByPath(classes, name, { prefix, isInside }) {
  return classes.get(name).fields.flatMap((declared) => {
    const field = { ...declared, isAdvanced: declared.isAdvanced || isInside };
    const path = `${prefix}${field.name}`;
    const isList = field.rules.some(({ name: rule }) => rule === 'isArray');
    const place = { prefix: `${path}${isList ? '[]' : ''}.`, isInside: field.isAdvanced };
    const inside = field.nested ? fieldsByPath(classes, field.nested, place) : [];
    return [[path, field], ...inside];
  });
}
