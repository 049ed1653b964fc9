/** Writes the files that follow from the recipe classes: `npm run reference`, after a change of the recipe classes. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { referenceFiles } from './reference/reference-files.mjs';
import { root } from './run-tool.mjs';

for (const { path, text } of await referenceFiles()) {
  writeFileSync(path, text);
  console.log(relative(root, path));
}
