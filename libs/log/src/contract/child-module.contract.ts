import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** A module of this repository, bundled so that a child process can run it without a build. */
export interface ChildModule {
  readonly path: string;
  remove(): Promise<void>;
}

let numBundled = 0;

/**
 * Bundles a TypeScript module for Node.js, except for the packages that it imports. The bundle is stored in `.cache/` of the package that
 * runs the tests, so that those imports resolve.
 */
export async function bundleForChild(entry: URL): Promise<ChildModule> {
  const directory = fileURLToPath(
    new URL(`../../.cache/child-${process.pid}-${numBundled++}/`, import.meta.url),
  );
  await mkdir(directory, { recursive: true });
  await build({
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: fileURLToPath(entry),
      outDir: directory,
      minify: false,
      rolldownOptions: { output: { entryFileNames: 'child.mjs' } },
    },
    ssr: { noExternal: [/^@retrace\//], resolve: { conditions: ['retrace-source', 'node', 'import'] } },
  });
  return {
    path: `${directory}child.mjs`,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
