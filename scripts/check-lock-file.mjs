/** Checks that the lock file names no registry, so that every machine installs from the one it is configured with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-tool.mjs';

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
// Links between workspaces have a relative path under the same key.
const withHost = Object.entries(packages).filter(([, { resolved }]) => resolved?.includes('://'));
for (const [path, { resolved }] of withHost) console.error(`${path}: resolved is ${resolved}`);
if (withHost.length > 0) {
  console.error(
    `package-lock.json: ${withHost.length} packages name a host; install with the .npmrc of this repository (omit-lockfile-registry-resolved=true)`,
  );
  process.exit(1);
}
console.log(`package-lock.json: ${Object.keys(packages).length} packages, no host named`);
