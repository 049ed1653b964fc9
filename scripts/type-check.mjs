/** `npm run typecheck`: generates the page's types of the REST API where they are stale, and compiles everything with type checks. */
import { fileURLToPath } from 'node:url';
import { runTool } from './run-tool.mjs';

export async function typeCheck() {
  await runTool('types of the API', 'apps/dashboard/scripts/generate-api-types.mjs', []);
  await runTool('type check and build', 'node_modules/typescript-7/bin/tsc', ['-b']);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await typeCheck();
