/**
 * Bundles the programs of Retrace with the packages that they load into a few files: Node takes a third of the time to load them that it takes for a
 * thousand. The bundle names the files that it was made of, so that it is used only while none of them is newer (`apps/cli/src/bundle.ts`).
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Packages with a binary, those that are rarely loaded, and those that a part of the bundle requires late, of which there must be one copy. */
const OUTSIDE =
  /^(node:.*|lmdb|chdb|msgpackr|lz4-napi|kafkajs|typescript|ajv|class-validator|class-transformer|reflect-metadata|@tensorflow\/.*|@clickhouse\/.*|apache-arrow)(\/.*)?$/;
/** Packages that Nest uses where they are installed. */
const OPTIONAL =
  /^@nestjs\/(microservices|websockets|platform-express|platform-socket\.io)|^@fastify\/(view|cors)/;

/** How long files of an earlier bundle stay. */
const KEPT_MS = 24 * 3600_000;

/** Changes with each installation of npm in a checkout. */
const INSTALLED = fileURLToPath(new URL('../node_modules/.package-lock.json', import.meta.url));

/**
 * Writes the bundle.
 *
 * @param {string} cli directory of the package of the command line, beside which or below which the others are found
 * @param {{ mayChange?: boolean }} [options] whether the files that it is made of may change later (default), as they do not once npm installed them
 */
export async function bundlePrograms(cli, { mayChange = true } = {}) {
  const { rolldown } = await import('rolldown');
  const { PROGRAMS } = await import(pathToFileURL(join(cli, 'dist', 'installation.js')).href);
  const { BUNDLE_DIRECTORY: directory } = await importBundleModule(cli);
  const { PACKAGES_OF_MODULES } = await import('@retrace/modules');
  const arriving = `${directory}.part`;
  const bundle = await rolldown({
    cwd: cli,
    input: { ...PROGRAMS, ...Object.fromEntries(PACKAGES_OF_MODULES.map((name) => [entryOf(name), name])) },
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
  replaceFiles(directory, arriving, [...Object.keys(PROGRAMS).map((name) => `${name}.js`), 'inputs.json']);
}

/**
 * Moves a new bundle to where the one before it lies. What that one had stays for a day, since a process that runs may load parts of it yet.
 *
 * @param {readonly string[]} last files that name the others, so that they come last
 */
function replaceFiles(directory, arriving, last) {
  const names = readdirSync(arriving);
  mkdirSync(directory, { recursive: true });
  for (const name of [...names.filter((each) => !last.includes(each)), ...last])
    renameSync(join(arriving, name), join(directory, name));
  rmSync(arriving, { recursive: true });
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!names.includes(name) && statSync(path).mtimeMs < Date.now() - KEPT_MS) rmSync(path);
  }
}

/** Whether there is no bundle, or one of older files. @param {string} cli directory of the package of the command line */
export async function isBundleStale(cli) {
  const { BUNDLE_DIRECTORY, isBundleCurrent } = await importBundleModule(cli);
  return !isBundleCurrent(BUNDLE_DIRECTORY);
}

function importBundleModule(cli) {
  return import(pathToFileURL(join(cli, 'dist', 'bundle.js')).href);
}

/** Name of the entry of a package that files of users import; the process must have one copy of it. */
function entryOf(packageName) {
  return packageName.replaceAll('/', '_');
}

/** The same in a module of the bundle. */
const RESOLVE_IN_BUNDLE = "(name) => new URL(`./${name.replaceAll('/', '_')}.js`, import.meta.url).href";

/** Lets each module find files beside it, wherever the bundle lies, and packages in the bundle. @param {string} directory of the bundle */
function staysWhereItIs(directory) {
  return {
    name: 'stays-where-it-is',
    transform(code, id) {
      // Modules of the bundler itself lie where the bundle does.
      if (id.startsWith('\0') || !code.includes('import.meta.')) return null;
      const path = (of) => JSON.stringify(relative(directory, of));
      return code
        .replaceAll('import.meta.resolve(', `(${RESOLVE_IN_BUNDLE})(`)
        .replaceAll('import.meta.url', `new URL(${path(id)}, import.meta.url).href`)
        .replaceAll(
          'import.meta.dirname',
          `decodeURIComponent(new URL(${path(dirname(id))}, import.meta.url).pathname)`,
        );
    },
  };
}
