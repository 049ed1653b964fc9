/** Writes the TypeScript types of the REST API, as `apps/api/openapi.json` describes it, where they are older than that. Git ignores them. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The file that `npm run openapi -w @retrace/api` writes. */
const DOCUMENT = join(import.meta.dirname, '../../api/openapi.json');
const TYPES = join(import.meta.dirname, '../src/api-types/schema.d.ts');
const HEADER = '// Generated from apps/api/openapi.json by "npm run typecheck". Do not edit.\n\n';

const modifiedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const newestSourceMs = Math.max(modifiedMs(DOCUMENT), modifiedMs(import.meta.filename));
if (modifiedMs(TYPES) < newestSourceMs) {
  const types = await renderTypes();
  mkdirSync(dirname(TYPES), { recursive: true });
  writeFileSync(TYPES, types);
}

/** `paths` for the client, and one type for each schema of the document. */
async function renderTypes() {
  // It takes a second to load, and is rarely needed.
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  // Its examples would be a third of the file.
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'), (name, value) =>
    name === 'example' ? undefined : value,
  );
  const nodes = await openapiTypescript(document, {
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  return HEADER + astToString(nodes);
}
