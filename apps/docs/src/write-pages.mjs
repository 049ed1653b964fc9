import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderReference } from './api-reference/pages.mjs';
import { DOCUMENTS, ICON, OPENAPI, PAGES } from './places.mjs';
import { titleOf } from './sidebar.mjs';

/** Names fields of the front matter that each recorded result has. */
const CIRCUMSTANCES =
  '\n\nMeasured by <code>{{ $frontmatter.command }}</code> on {{ $frontmatter.date }}, commit <code>{{ $frontmatter.commit }}</code>, {{ $frontmatter.cores }} cores of {{ $frontmatter.cpu }}, Node {{ $frontmatter.node }}.\n';

/** Writes the pages that VitePress reads: a copy of `docs/`, the circumstances of each result with a list of them, and the reference of the API. */
export function writePages() {
  rmSync(PAGES, { recursive: true, force: true });
  cpSync(DOCUMENTS, PAGES, { recursive: true });
  writeResults(join(PAGES, 'results'));
  const api = join(PAGES, 'api');
  mkdirSync(api);
  for (const [name, text] of renderReference(JSON.parse(readFileSync(OPENAPI, 'utf8'))))
    writeFileSync(join(api, `${name}.md`), text);
  // Served as they are.
  for (const [from, to] of [
    [ICON, 'icon.svg'],
    [join(DOCUMENTS, 'reference', 'recipe.schema.json'), join('reference', 'recipe.schema.json')],
  ]) {
    const target = join(PAGES, 'public', to);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(from, target);
  }
}

function writeResults(directory) {
  const files = readdirSync(directory, { recursive: true })
    .filter((file) => file.endsWith('.md'))
    .sort();
  const lines = files.map((file) => `- [${titleOf(join(directory, file))}](${file})`);
  for (const file of files) {
    const path = join(directory, file);
    writeFileSync(path, `${readFileSync(path, 'utf8').trimEnd()}${CIRCUMSTANCES}`);
  }
  writeFileSync(join(directory, 'index.md'), `# Measured figures\n\n${lines.join('\n')}\n`);
}
