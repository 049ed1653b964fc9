/**
 * Bundles the API's process with the packages that it loads into a few files: Node takes a quarter of the time to load them that it takes for 2,700. The
 * bundle lies beside the files that it was made of, and names them, so that it is used only while none of them is newer (`apps/cli/src/installation.ts`).
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Packages with a binary, those that are rarely loaded, and those that a part of the bundle requires late, of which there must be one copy. */
const OUTSIDE =
  /^(node:.*|lmdb|chdb|msgpackr|lz4-napi|kafkajs|typescript|ajv|class-validator|class-transformer|reflect-metadata|@tensorflow\/.*|@clickhouse\/.*|apache-arrow)(\/.*)?$/;
/** Packages that Nest uses where they are installed. */
const OPTIONAL =
  /^@nestjs\/(microservices|websockets|platform-express|platform-socket\.io)|^@fastify\/(view|cors)/;

/** Changes with each installation of npm in a checkout. */
const INSTALLED = fileURLToPath(new URL('../node_modules/.package-lock.json', import.meta.url));

/**
 * Writes `dist/bundle` of the API's package.
 *
 * @param {string} api its directory
 * @param {{ mayChange?: boolean }} [options] whether the files that it is made of may change later (default), as they do not once npm installed them
 */
export async function bundleApi(api, { mayChange = true } = {}) {
  const { rolldown } = await import('rolldown');
  const directory = join(api, 'dist', 'bundle');
  const arriving = `${directory}.part`;
  const bundle = await rolldown({
    input: join(api, 'dist', 'main.js'),
    platform: 'node',
    external: [OUTSIDE, OPTIONAL],
    plugins: [staysWhereItIs(directory)],
    logLevel: 'silent',
  });
  await bundle.write({ dir: arriving, format: 'esm', keepNames: true, cleanDir: true });
  const own = (await bundle.watchFiles).filter((path) => !path.includes('node_modules'));
  await bundle.close();
  const inputs = mayChange ? [...own, INSTALLED].map((path) => relative(directory, path)) : [];
  writeFileSync(join(arriving, 'inputs.json'), JSON.stringify(inputs));
  rmSync(directory, { recursive: true, force: true });
  renameSync(arriving, directory);
}

/** Whether the API has no bundle, or one of older files. @param {string} api its directory */
export function isBundleStale(api) {
  const directory = join(api, 'dist', 'bundle');
  const inputs = join(directory, 'inputs.json');
  const madeAtMs = modifiedMs(inputs);
  return (
    madeAtMs === 0 ||
    JSON.parse(readFileSync(inputs, 'utf8')).some((path) => {
      const changedMs = modifiedMs(join(directory, path));
      return changedMs === 0 || changedMs > madeAtMs;
    })
  );
}

/** When a file was last modified; 0 where it does not exist. */
function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Lets each module find files beside it, wherever the bundle lies. @param {string} directory of the bundle */
function staysWhereItIs(directory) {
  return {
    name: 'stays-where-it-is',
    transform(code, id) {
      // Modules of the bundler itself lie where the bundle does.
      if (id.startsWith('\0') || !code.includes('import.meta.')) return null;
      const path = (of) => JSON.stringify(relative(directory, of));
      return code
        .replaceAll('import.meta.url', `new URL(${path(id)}, import.meta.url).href`)
        .replaceAll(
          'import.meta.dirname',
          `decodeURIComponent(new URL(${path(dirname(id))}, import.meta.url).pathname)`,
        );
    },
  };
}
