/** Makes the files that follow from the recipe classes: docs/reference, and the words of `retrace recipes X --explain`. */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { format } from 'oxfmt';
import { root } from '../run-tool.mjs';
import { fieldWords } from './field-words.mjs';
import { readRecipeClasses } from './recipe-classes.mjs';
import { recipePage } from './recipe-page.mjs';
import { recipeSchema } from './recipe-schema.mjs';

/** Path and text of each generated file. */
export async function referenceFiles() {
  const classes = readRecipeClasses();
  const texts = {
    'docs/reference/recipe.md': recipePage(classes),
    'docs/reference/recipe.schema.json': JSON.stringify(recipeSchema(classes)),
    'libs/config/src/recipe/field-words.ts': fieldWords(classes),
  };
  const { overrides, ...options } = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8'));
  return Promise.all(
    Object.entries(texts).map(async ([name, text]) => {
      const path = join(root, name);
      const own = overrides.filter(({ files }) => files.includes(`*${extname(name)}`));
      const { code } = await format(
        name,
        text,
        Object.assign({}, options, ...own.map((each) => each.options)),
      );
      return { path, text: code };
    }),
  );
}
