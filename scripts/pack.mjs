/**
 * `npm run pack [-- DIRECTORY]`: writes the packages that users install, in the form of `npm pack`, into a directory (default: this one):
 *
 * - `retrace-rl-<version>.tgz`: the command `retrace` with everything that it starts. (`retrace` is another package on npm.)
 * - `retrace-client-<version>.tgz`: `@retrace/client`, for agents in TypeScript.
 *
 * The programs are bundles of a few files. Packages of others that those load from where they are installed travel inside, in the versions of the
 * lock file, which are those that were tested, except for those with binaries.
 * Builds with type checks first. Nothing is published.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { buildDocumentationIfStale, buildIfStale } from './build-if-stale.mjs';
import { bundlePrograms, isLoadedFromOutside } from './bundle-programs.mjs';
import { root } from './run-tool.mjs';
import { typeCheck } from './type-check.mjs';

const NAME = 'retrace-rl';
/** Packages with a binary for each platform, which npm installs with this one. */
const WITH_BINARIES = ['fs-native-extensions', 'lmdb', 'lz4-napi', 'msgpackr'];
/**
 * Packages that travel with fewer dependencies than they ask for: of TensorFlow.js for Node Retrace uses no installer (stand-ins/README.md),
 * and chDB's engine of 570 MB is downloaded at the first start.
 */
const TRIMMED = { '@tensorflow/tfjs-node': ['@tensorflow/tfjs', 'google-protobuf'], chdb: [] };
/** Only for compilers. */
const TYPES = /^@types\/|^@webgpu\/types$/;
/** Helpers of decorators, which files import that `npm start` compiled, and not `tsc`. */
const DECORATOR_HELPERS = 'node_modules/@oxc-project/runtime';
/** Parts of a workspace that are needed when it runs. */
const WORKSPACE_PARTS = ['dist', 'bin', 'native', 'migrations', 'free-port.mjs', 'free-port.d.mts'];
/** Of the page and the documentation only what was built from them. */
const SITE_PARTS = [join('dist', 'site'), join('dist', 'saved-page')];
const WORKSPACE = /^(libs|apps|clients)\/[^/]+$/;
const NOT_FOR_USERS = /\.(spec|contract|fixture)\.|\.d\.[cm]?ts$|\.map$|\.tsbuildinfo$|^bundle$/;
const NOT_OF_OTHERS = /\.map$|\.[cm]?ts$|\.md$|^node_modules$/i;

const lock = readJson(join(root, 'package-lock.json')).packages;
const destination = resolve(process.argv[2] ?? '.');
await typeCheck();
await buildIfStale();
buildDocumentationIfStale();
const temporary = mkdtempSync(join(tmpdir(), 'retrace-pack-'));
/** Named as npm wants the folder in an archive to be. */
const stage = join(temporary, 'package');
try {
  const workspaces = Object.keys(lock).filter((path) => WORKSPACE.test(path));
  const others = findPackages(workspaces);
  stagePackages(workspaces, others);
  // Made again, since it finds files by where they are relative to it.
  await bundlePrograms(join(stage, 'node_modules', '@retrace', 'cli'), { mayChange: false });
  const { bundled } = findPackages(others.bundled.filter((path) => isLoadedFromOutside(nameOf(path))));
  const inside = others.bundled.filter((path) => !bundled.includes(path));
  writeLicenses(inside);
  for (const path of inside) rmSync(join(stage, path), { recursive: true });
  const manifest = writePackageManifest(workspaces, { ...others, bundled });
  packStaged(manifest);
  npmPack(join(root, 'clients', 'typescript'));
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/** Lays the packages out as they are once installed, with all that the bundles are made of. */
function stagePackages(workspaces, { bundled }) {
  for (const path of workspaces)
    stageWorkspace(path, join(stage, 'node_modules', readJson(join(root, path, 'package.json')).name));
  for (const path of bundled) stageOther(path, join(stage, path));
}

function writePackageManifest(workspaces, { bundled, withBinaries }) {
  const own = workspaces.map((path) => readJson(join(root, path, 'package.json')));
  const versions = {
    ...Object.fromEntries(own.map(({ name, version }) => [name, version])),
    ...Object.fromEntries(bundled.map((path) => [nameOf(path), versionOf(path)])),
  };
  const { description, version, license, engines, type } = readJson(join(root, 'package.json'));
  const manifest = {
    ...{ name: NAME, version, description, license, type, engines },
    bin: { retrace: 'node_modules/@retrace/cli/bin/retrace.mjs' },
    dependencies: { ...withBinaries, ...versions },
    bundleDependencies: Object.keys(versions),
  };
  writeManifest(stage, manifest);
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(stage, name));
  return manifest;
}

/**
 * Follows the dependencies of some packages through the lock file, themselves included, unless they are workspaces. Packages below another's
 * `node_modules` travel with that one.
 */
function findPackages(from) {
  const bundled = new Set();
  const withBinaries = {};
  const seen = new Set();
  const follow = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    const name = nameOf(path);
    if (WITH_BINARIES.includes(name)) {
      withBinaries[name] = lock[path].version;
      return;
    }
    if (path === `node_modules/${name}` && !isWorkspace(path) && !TYPES.test(name)) bundled.add(path);
    for (const dependency of dependenciesOf(path)) {
      const found = find(dependency, path);
      if (found !== null) follow(found);
    }
  };
  from.forEach(follow);
  // The bundles have it inside.
  if (from.some((path) => !path.startsWith('node_modules/'))) bundled.add(DECORATOR_HELPERS);
  return { bundled: [...bundled].sort(), withBinaries };
}

/** Links to other folders, such as those of `stand-ins`, are packages of others. */
function isWorkspace(path) {
  return WORKSPACE.test(lock[path].resolved ?? '');
}

function versionOf(path) {
  const { version, link, resolved } = lock[path];
  return link ? lock[resolved].version : version;
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function dependenciesOf(path) {
  const trimmed = TRIMMED[path.slice('node_modules/'.length)];
  if (trimmed !== undefined) return trimmed;
  const { resolved, link } = lock[path];
  const { dependencies, peerDependencies, peerDependenciesMeta } = lock[link ? resolved : path];
  const required = Object.keys(peerDependencies ?? {}).filter(
    (name) => !peerDependenciesMeta?.[name]?.optional,
  );
  return [...Object.keys(dependencies ?? {}), ...required];
}

/** The path at which Node finds a package from another's path; null where it is not installed. */
function find(name, from) {
  for (let above = from; ; above = dirname(above)) {
    const path = join(above === '.' ? '' : above, 'node_modules', name);
    if (lock[path] !== undefined) return path;
    if (above === '.') return null;
  }
}

function stageWorkspace(path, target) {
  const { name, version, type, license, exports, imports } = readJson(join(root, path, 'package.json'));
  mkdirSync(target, { recursive: true });
  const parts = existsSync(join(root, path, 'dist', 'site')) ? SITE_PARTS : WORKSPACE_PARTS;
  for (const part of parts) copy(join(root, path, part), join(target, part), NOT_FOR_USERS);
  const dependencies = stageNested(path, target);
  writeManifest(target, { name, version, type, license, exports, imports, dependencies });
}

/** Copies a package of others; of its dependencies its manifest names only those that travel inside it. Returns its version. */
function stageOther(path, target) {
  copy(join(root, path), target, NOT_OF_OTHERS);
  const manifest = readJson(join(root, path, 'package.json'));
  const optional = manifest.optionalDependencies ?? {};
  writeManifest(target, {
    ...manifest,
    scripts: undefined,
    // npm compiles a package with a binding.gyp that names no script, unless it says so.
    gypfile: false,
    devDependencies: undefined,
    optionalDependencies: undefined,
    dependencies: stageNested(path, target),
    peerDependencies: optional,
    peerDependenciesMeta: Object.fromEntries(Object.keys(optional).map((name) => [name, { optional: true }])),
  });
  return manifest.version;
}

/** Copies the packages in the `node_modules` of another, unless only tests need them, and returns their versions by name. */
function stageNested(path, target) {
  const prefix = `${path}/node_modules/`;
  const nested = Object.keys(lock).filter(
    (each) =>
      each.startsWith(prefix) && !each.slice(prefix.length).includes('/node_modules/') && !lock[each].dev,
  );
  return Object.fromEntries(
    nested.map((each) => {
      const name = each.slice(prefix.length);
      return [name, stageOther(each, join(target, 'node_modules', name))];
    }),
  );
}

function copy(from, to, excluded) {
  if (!existsSync(from)) return;
  // Below the folder itself, which may be a link or have any name.
  const filter = (path) => path === from || !excluded.test(basename(path));
  cpSync(from, to, { recursive: true, dereference: true, filter });
}

/** Writes the licences of packages of which only the bundles have the code, with those of the packages inside them. */
function writeLicenses(paths) {
  const texts = paths.flatMap((path) => {
    const files = readdirSync(join(stage, path), { recursive: true }).filter((file) =>
      /^(licen[cs]e|notice|copying)/i.test(basename(file)),
    );
    return files.map((file) => {
      const text = readFileSync(join(stage, path, file), 'utf8').trim();
      return `${nameOf(path)} ${versionOf(path)}: ${file}\n\n${text}\n`;
    });
  });
  writeFileSync(join(stage, 'THIRD_PARTY_LICENSES'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** As `npm pack` does, which takes ten times as long over the files of the staged package. */
function packStaged({ name, version }) {
  const file = join(destination, `${name}-${version}.tgz`);
  execFileSync('tar', ['--create', '--gzip', '--file', file, '--directory', dirname(stage), basename(stage)]);
  console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
}

function npmPack(directory) {
  const args = ['pack', directory, '--ignore-scripts', '--loglevel=error', '--pack-destination', destination];
  const [{ filename, size }] = JSON.parse(
    execFileSync('npm', [...args, '--json'], { cwd: destination, encoding: 'utf8' }),
  );
  console.log(`${join(destination, filename)}: ${(size / 1e6).toFixed(1)} MB`);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function writeManifest(directory, manifest) {
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
