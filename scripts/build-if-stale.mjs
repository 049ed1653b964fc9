import { spawn } from 'node:child_process';
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

const root = fileURLToPath(new URL('..', import.meta.url));
const dashboard = join(root, 'apps', 'dashboard');

/**
 * Makes everything that runs from `dist/` current: strips types file by file where a source is newer than its output
 * (a small part of the time of `tsc -b`, which CI and `npm test` run for the checks), and bundles the dashboard beside it.
 */
export async function buildIfStale() {
  const bundling = bundleDashboardIfStale();
  const stale = staleSources();
  if (stale.length > 0) {
    process.stdout.write(`Building ${stale.length} files …\n`);
    await transpile(stale);
  }
  await bundling;
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

async function transpile(files) {
  const transformers = { oxc: await createOxcTransformer(), typescript: null };
  for (const { source, output } of files) {
    const text = readFileSync(source, 'utf8');
    if (hasDecorators(text)) transformers.typescript ??= await createTypeScriptTransformer();
    const transform = hasDecorators(text) ? transformers.typescript : transformers.oxc;
    const { code, map } = await transform(text, source);
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(`${output}.map`, map);
    // Renamed once it is complete, so that an interrupted build leaves nothing that looks current.
    writeFileSync(`${output}.part`, `${code}\n//# sourceMappingURL=${basename(output)}.map\n`);
    renameSync(`${output}.part`, output);
  }
}

/** Decorated classes need the metadata that the TypeScript compiler writes about their types. */
function hasDecorators(text) {
  return /(^|[\s(,])@[A-Z]\w*\(/m.test(text);
}

async function createOxcTransformer() {
  const { transformWithOxc } = await import('vite');
  const options = { sourcemap: true, target: 'es2023', typescript: { onlyRemoveTypeImports: true } };
  return async (text, source) => {
    const { code, map } = await transformWithOxc(text, source, options);
    return { code, map: JSON.stringify(map) };
  };
}

async function createTypeScriptTransformer() {
  const { default: ts } = await import('typescript');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const compilerOptions = {
    ...options,
    composite: false,
    declaration: false,
    declarationMap: false,
    // Every package is ESM; a compiler that sees one file can't read that from package.json.
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  return (text, source) => {
    const result = ts.transpileModule(text, { fileName: source, compilerOptions, reportDiagnostics: true });
    if (result.diagnostics.length > 0) {
      throw new Error(
        `${source}: ${ts.flattenDiagnosticMessageText(result.diagnostics[0].messageText, ' ')}`,
      );
    }
    return {
      code: result.outputText.replace(/\n\/\/# sourceMappingURL=.*\n?$/, ''),
      map: result.sourceMapText,
    };
  };
}

async function bundleDashboardIfStale() {
  const inputs = ['index.html', 'vite.config.mjs', 'package.json'].map((name) => join(dashboard, name));
  const sources = [
    ...inputs,
    ...filesUnder(join(dashboard, 'src')),
    ...filesUnder(join(dashboard, 'public')),
  ];
  const newestMs = Math.max(...sources.map(modifiedMs));
  if (modifiedMs(join(dashboard, 'dist', 'site', 'index.html')) >= newestMs) return;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const bundler = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: dashboard,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => bundler.once('close', resolve));
  if (code !== 0)
    throw new Error(
      `The dashboard could not be bundled: vite exited with code ${code}; see its output above`,
    );
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
