/** Makes the generated files of docs/reference. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { root } from '../run-tool.mjs';
import { readRecipeClasses } from './recipe-classes.mjs';
import { recipePage } from './recipe-page.mjs';
import { recipeSchema } from './recipe-schema.mjs';

/** Path and text of each generated file. */
export async function referenceFiles() {
  const classes = readRecipeClasses();
  const texts = {
    'recipe.md': recipePage(classes),
    'recipe.schema.json': JSON.stringify(recipeSchema(classes)),
  };
  const options = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8'));
  return Promise.all(
    Object.entries(texts).map(async ([name, text]) => {
      const path = join(root, 'docs/reference', name);
      const { code } = await format(name, text, options);
      return { path, text: code };
    }),
  );
}
