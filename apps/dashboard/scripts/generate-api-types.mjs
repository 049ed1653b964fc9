/** `npm run types -w @retrace/dashboard`: writes the types of the REST API. */
import { writeFileSync } from 'node:fs';
import { renderApiTypes, TYPES_FILE } from './api-types.mjs';

writeFileSync(TYPES_FILE, await renderApiTypes());
console.log(`Wrote ${TYPES_FILE}`);
