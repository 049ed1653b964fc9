import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePrograms, isBundleStale, withdrawBundle } from './bundle-programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dashboard = join(root, 'apps', 'dashboard');
const cli = join(root, 'apps', 'cli');
const documentation = join(root, 'apps', 'docs');

/**
 * Makes everything that runs from `dist/` current: compiles file by file, without looking at types, where a source is newer than its output
 * (a small part of the time of `tsc -b`, which CI and `npm test` run for the checks), and bundles the programs, and the dashboard beside it.
 */
export async function buildIfStale() {
  const startedAt = performance.now();
  const staleFiles = staleSources();
  const isPageStale = dashboardIsStale();
  // Tells by compiled files, which then are current.
  const isProgramStale = staleFiles.length > 0 || (await isBundleStale(cli));
  const parts = [
    ...(staleFiles.length > 0 ? [`${staleFiles.length} ${staleFiles.length === 1 ? 'file' : 'files'}`] : []),
    ...(isProgramStale ? ['the programs'] : []),
    ...(isPageStale ? ['the page'] : []),
  ];
  if (parts.length === 0) return;
  process.stdout.write(`Building ${parts.join(', ')} …\n`);
  await Promise.all([
    isPageStale ? bundleDashboard() : undefined,
    transpile(staleFiles).then(() => (isProgramStale ? bundlePrograms(cli) : undefined)),
  ]);
  process.stdout.write(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

function staleSources() {
  const configurationMs = modifiedMs(join(root, 'tsconfig.base.json'));
  return packageDirectories()
    .flatMap((directory) => filesUnder(join(directory, 'src')).map((source) => ({ directory, source })))
    .filter(
      ({ source }) => source.endsWith('.ts') && !source.endsWith('.d.ts') && !source.endsWith('.spec.ts'),
    )
    .map(({ directory, source }) => ({
      source,
      output: join(directory, 'dist', relative(join(directory, 'src'), source)).replace(/\.ts$/, '.js'),
    }))
    .filter(({ source, output }) => modifiedMs(output) < Math.max(modifiedMs(source), configurationMs));
}

/** Lists the workspaces to transpile; the dashboard has its own bundler. */
function packageDirectories() {
  return ['libs', 'apps', 'clients']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((directory) => directory !== dashboard && existsSync(join(directory, 'src')));
}

/** Strips types and compiles decorators, with the metadata about types that Nest and class-validator read; finds no error of types. */
async function transpile(files) {
  if (files.length === 0) return;
  await withdrawBundle(cli);
  const { transformWithOxc } = await import('vite');
  const options = {
    sourcemap: false,
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true },
    decorator: { legacy: true, emitDecoratorMetadata: true },
  };
  for (const { source, output } of files) {
    const { code } = await transformWithOxc(readFileSync(source, 'utf8'), source, options);
    mkdirSync(dirname(output), { recursive: true });
    // Renamed once it is complete, so that an interrupted build leaves nothing that looks current.
    writeFileSync(`${output}.part`, code);
    renameSync(`${output}.part`, output);
  }
}

function dashboardIsStale() {
  const inputs = ['index.html', 'reference.html', 'vite.config.mjs', 'package.json'].map((name) =>
    join(dashboard, name),
  );
  const sources = [
    ...inputs,
    ...filesUnder(join(dashboard, 'src')),
    ...filesUnder(join(dashboard, 'public')),
    join(dashboard, 'scripts', 'saved-page.mjs'),
  ];
  return isAnyOlder([join('site', 'index.html'), join('saved-page', 'page.html')], dashboard, sources);
}

async function bundleDashboard() {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  await runInDashboard(vite, 'build', '--logLevel', 'warn');
  await runInDashboard(join('scripts', 'saved-page.mjs'));
}

async function runInDashboard(script, ...args) {
  const bundler = spawn(process.execPath, [script, ...args], {
    cwd: dashboard,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => bundler.once('close', resolve));
  if (code !== 0)
    throw new Error(
      `The dashboard could not be bundled: ${basename(script)} exited with code ${code}; see its output above`,
    );
}

/** Builds the site of the documentation where a page of it or its own code is newer; `npm start` does without. */
export function buildDocumentationIfStale() {
  const sources = [
    join(documentation, 'package.json'),
    join(root, 'apps', 'api', 'openapi.json'),
    join(dashboard, 'public', 'icon.svg'),
    ...['src', '.vitepress'].flatMap((name) => filesUnder(join(documentation, name))),
    ...filesUnder(join(root, 'docs')),
  ];
  if (!isAnyOlder([join('site', 'index.html'), 'built'], documentation, sources)) return;
  const script = join(documentation, 'src', 'build-site.mjs');
  execFileSync(process.execPath, [script], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Whether an output in `dist/` of a workspace is missing, or older than a source. */
function isAnyOlder(outputs, workspace, sources) {
  const newestMs = Math.max(...sources.map(modifiedMs));
  return outputs.some((output) => modifiedMs(join(workspace, 'dist', output)) < newestMs);
}

function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns when a file was last modified, 0 where it does not exist. */
function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
