import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientSchemaFiles } from './client-schemas.mjs';

describe('schemas of records in the clients', () => {
  it.each(clientSchemaFiles())(
    "are those of the API's document, which `node scripts/client-schemas.mjs` writes: $path",
    ({ path, text }) => {
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );
});
