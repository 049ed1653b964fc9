/**
 * Checks that the lock files name no registry, so that every machine installs from the one it is configured with, and that `npm ci` has
 * nothing to warn of: no package is deprecated, and each runs on all versions of Node that Retrace is tested on.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { satisfies } from 'semver';
import { root } from './run-tool.mjs';

/** The oldest of each line of Node that `npm ci` must be silent on. */
const NODE_VERSIONS = ['20.19.0', '22.13.0', '24.0.0'];

/** Finds what is wrong with one entry of a lock file. */
function problemsOf({ resolved, deprecated, engines }, nodeVersions) {
  const tooOld = nodeVersions.filter((version) => engines?.node && !satisfies(version, engines.node));
  return [
    // Links between workspaces have a relative path under the same key.
    ...(resolved?.includes('://')
      ? [`resolved is ${resolved}; install with the .npmrc beside it (omit-lockfile-registry-resolved=true)`]
      : []),
    ...(deprecated ? [`is deprecated: ${deprecated}`] : []),
    ...(tooOld.length > 0 ? [`needs Node ${engines.node}, which excludes ${tooOld.join(', ')}`] : []),
  ];
}

function check(path, nodeVersions) {
  const packages = Object.entries(JSON.parse(readFileSync(join(root, path), 'utf8')).packages);
  const problems = packages.flatMap(([name, entry]) =>
    problemsOf(entry, nodeVersions).map((problem) => `${path}: ${name}: ${problem}`),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${path}: ${packages.length} packages, nothing to warn of`);
}

check('package-lock.json', NODE_VERSIONS);
// Frameworks need a newer Node, which their script fetches where this one is older.
check('test/frameworks/package-lock.json', NODE_VERSIONS.slice(1));
