/**
 * Bundles the command and the programs that it starts with the packages that they load into a few files: Node takes a third of the time to load them that it takes for a
 * thousand. The bundle names the files that it was made of, so that it is used only while none of them is newer (`apps/cli/src/bundle.ts`).
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Packages with a binary or that read files beside them, those that are rarely loaded, and those that a part of the bundle requires late, of which there must be one copy. */
const OUTSIDE =
  /^(node:.*|lmdb|chdb|msgpackr|lz4-napi|fs-native-extensions|kafkajs|typescript|@bokuweb\/zstd-wasm|ajv|class-validator|class-transformer|reflect-metadata|@tensorflow\/.*|@clickhouse\/.*|apache-arrow)(\/.*)?$/;
/** Packages that parts of the bundle require late, so that it does not name them. */
const REQUIRED_LATE = ['undici', 'node-gyp'];

/** Whether the programs load a package from where it is installed. @param {string} name of a package */
export function isLoadedFromOutside(name) {
  return OUTSIDE.test(name) || REQUIRED_LATE.includes(name);
}

/** Packages that Nest uses where they are installed. */
const OPTIONAL =
  /^@nestjs\/(microservices|websockets|platform-express|platform-socket\.io)|^@fastify\/(view|cors)/;

/** Names what shows that a bundle is of older files; without it there is no bundle. */
const INPUTS = 'inputs.json';

/** How long files of bundles stay that were replaced before the last one was. */
const KEPT_MS = 24 * 3600_000;

/** Files of one bundle are written within this time. */
const WRITTEN_WITHIN_MS = 60_000;

/** Changes with each installation of npm in a checkout. */
const INSTALLED = fileURLToPath(new URL('../node_modules/.package-lock.json', import.meta.url));

/**
 * Writes the bundle: a folder a program, since parts that two programs share might else lie in the file with which one of them begins, and begin it in the other.
 *
 * @param {string} cli directory of the package of the command line, beside which or below which the others are found
 * @param {{ mayChange?: boolean }} [options] whether the files that it is made of may change later (default), as they do not once npm installed them
 */
export async function bundlePrograms(cli, { mayChange = true } = {}) {
  const { PROGRAMS } = await import(pathToFileURL(join(cli, 'dist', 'installation.js')).href);
  const { BUNDLE_DIRECTORY } = await importBundleModule(cli);
  const inputs = await Promise.all(
    Object.entries(PROGRAMS).map(([name, path]) => bundleProgram(cli, path, join(BUNDLE_DIRECTORY, name))),
  );
  const own = [...new Set(inputs.flat())].filter((path) => !path.includes('node_modules'));
  const named = mayChange
    ? [...changesOf(own), INSTALLED, fileURLToPath(import.meta.url)].map((path) =>
        relative(BUNDLE_DIRECTORY, path),
      )
    : [];
  // Renamed once it is complete, since commands that begin meanwhile read it.
  const inputsFile = join(BUNDLE_DIRECTORY, INPUTS);
  writeFileSync(`${inputsFile}.part`, JSON.stringify(named));
  renameSync(`${inputsFile}.part`, inputsFile);
}

/**
 * Files that show by their times whether one of `paths` changed: for what the compiler wrote, the file in which it keeps what it compiled, one a package, since each
 * command looks at all of them.
 *
 * @param {readonly string[]} paths
 */
function changesOf(paths) {
  return new Set(
    paths.map((path) => {
      const end = path.lastIndexOf('/dist/');
      const isCompiled = end !== -1 && existsSync(join(path.slice(0, end), 'tsconfig.json'));
      return isCompiled ? join(path.slice(0, end), 'dist', '.tsbuildinfo') : path;
    }),
  );
}

/**
 * Takes the bundle out of use, before files are compiled that it is made of; what is begun with it runs on.
 *
 * @param {string} cli directory of the package of the command line
 */
export async function withdrawBundle(cli) {
  if (!existsSync(join(cli, 'dist', 'bundle.js'))) return;
  const { BUNDLE_DIRECTORY } = await importBundleModule(cli);
  rmSync(join(BUNDLE_DIRECTORY, INPUTS), { force: true });
}

/** @returns {Promise<readonly string[]>} the files that it is made of */
async function bundleProgram(cli, path, directory) {
  const { rolldown } = await import('rolldown');
  const { PACKAGES_OF_MODULES } = await import('@retrace/process/modules');
  const arriving = `${directory}.part`;
  const bundle = await rolldown({
    cwd: cli,
    input: { main: path, ...Object.fromEntries(PACKAGES_OF_MODULES.map((name) => [entryOf(name), name])) },
    platform: 'node',
    external: [OUTSIDE, OPTIONAL],
    plugins: [staysWhereItIs(directory)],
    logLevel: 'silent',
  });
  await bundle.write({ dir: arriving, format: 'esm', keepNames: true, cleanDir: true });
  replaceFiles(directory, arriving);
  const inputs = await bundle.watchFiles;
  await bundle.close();
  return inputs;
}

/**
 * Moves a new bundle to where the one before it lies. Files of the one that is replaced stay, since a process that runs may load parts of it yet; those of
 * older ones stay a day.
 */
function replaceFiles(directory, arriving) {
  const names = readdirSync(arriving);
  mkdirSync(directory, { recursive: true });
  const writtenMs = statSync(join(directory, 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const leftMs = Math.min(writtenMs - WRITTEN_WITHIN_MS, Date.now() - KEPT_MS);
  // The file with which it begins comes last, since it names others.
  for (const name of names.toSorted((a, b) => Number(a === 'main.js') - Number(b === 'main.js')))
    renameSync(join(arriving, name), join(directory, name));
  rmSync(arriving, { recursive: true });
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!names.includes(name) && statSync(path).mtimeMs < leftMs) rmSync(path);
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

/** The module that resolves the packages which files of users import. */
const RESOLVES_PACKAGES = join('modules', 'dist', 'import-module.js');

/** The module that starts workers of a trainer, and where in it their program is named. */
const STARTS_WORKERS = join('data-parallel', 'worker-process.js');
const WORKER_PROGRAM = /new URL\((["'])[^"']*worker-main\.js\1, import\.meta\.url\)/;

/** Lets each module find files beside it, wherever the bundle lies, and packages in the bundle. @param {string} directory of the bundle */
function staysWhereItIs(directory) {
  return {
    name: 'stays-where-it-is',
    transform(code, id) {
      // Modules of the bundler itself lie where the bundle does.
      if (id.startsWith('\0') || !code.includes('import.meta.')) return null;
      if (id.endsWith(STARTS_WORKERS)) {
        if (!WORKER_PROGRAM.test(code)) throw new Error(`${id} names no program of workers`);
        return code.replace(WORKER_PROGRAM, "new URL('../gradients/main.js', import.meta.url)");
      }
      const path = (of) => JSON.stringify(relative(directory, of));
      const placed = code
        .replaceAll('import.meta.url', `new URL(${path(id)}, import.meta.url).href`)
        .replaceAll(
          'import.meta.dirname',
          `decodeURIComponent(new URL(${path(dirname(id))}, import.meta.url).pathname)`,
        );
      return id.endsWith(RESOLVES_PACKAGES)
        ? placed.replaceAll('import.meta.resolve', `(${IN_BUNDLE})`)
        : placed;
    },
  };
}

/** In place of `import.meta.resolve` in a module of the bundle. */
const IN_BUNDLE = "(name) => new URL(`./${name.replaceAll('/', '_')}.js`, import.meta.url).href";
