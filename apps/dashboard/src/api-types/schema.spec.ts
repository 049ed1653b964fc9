import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderApiTypes, TYPES_FILE } from '../../scripts/api-types.mjs';

it('schema.d.ts is what the OpenAPI document gives; otherwise run "npm run types -w @retrace/dashboard"', async () => {
  expect(readFileSync(TYPES_FILE, 'utf8')).toBe(await renderApiTypes());
});
