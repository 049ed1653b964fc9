import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import { createOpenApiDocument } from './openapi-document.js';

/** Committed, so that the dashboard's types can be generated without a running API. */
const PATH = new URL('../../openapi.json', import.meta.url);

await writeFile(PATH, `${JSON.stringify(await createOpenApiDocument(), null, 2)}\n`);
