import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';

/** The OpenAPI document that `npm run openapi -w @retrace/api` writes. */
const DOCUMENT = join(import.meta.dirname, '../../api/openapi.json');

const HEADER = `// Generated from apps/api/openapi.json by "npm run types -w @retrace/dashboard". Do not edit.\n\n`;

/** The committed file of TypeScript types. */
export const TYPES_FILE = join(import.meta.dirname, '../src/api-types/schema.d.ts');

/**
 * Renders the TypeScript types of the REST API: `paths` for the client, and one type for each schema of the OpenAPI document.
 *
 * @returns {Promise<string>} content of `TYPES_FILE`
 */
export async function renderApiTypes() {
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
