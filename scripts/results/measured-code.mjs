import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import cruiserConfiguration from '../../.dependency-cruiser.mjs';
import { root } from '../run-tool.mjs';
import { namedFiles } from './named-files.mjs';

/**
 * Finds the code that a measuring script measures, in the working tree:
 *
 * 1. the script itself and all that it imports, directly or not, at run time; types do not count;
 * 2. each file that one of these names in a string (see `namedFiles`) and all that it imports: programs that are started, such as
 *    the roles of `retrace up`, Python peers, migrations;
 * 3. the native sources of each workspace that one of these files belongs to.
 *
 * Whoever starts `retrace` measures all roles and commands, whether or not it runs them. Packages in `node_modules` and
 * data files do not count.
 */
export class MeasuredCode {
  /**
   * @param {ReadonlyMap<string, readonly string[]>} imports files of the repository that each module imports
   * @param {ReadonlySet<string>} files all files of the repository
   * @param {(file: string) => string} read
   */
  constructor(imports, files, read) {
    this.imports = imports;
    this.files = files;
    this.read = read;
    /** @type {Map<string, readonly string[]>} */
    this.neighbours = new Map();
  }

  /** @param {string} script relative to the root @returns {string[]} in order */
  of(script) {
    const reached = new Set([script]);
    for (const file of reached) for (const next of this.neighboursOf(file)) reached.add(next);
    const workspaces = new Set([...reached].map(workspaceOf));
    for (const file of this.files)
      if (/\.(cc|h|gyp)$/.test(file) && workspaces.has(workspaceOf(file))) reached.add(file);
    return [...reached].sort();
  }

  /** @param {string} file */
  neighboursOf(file) {
    let neighbours = this.neighbours.get(file);
    if (neighbours === undefined) {
      const named = this.imports.has(file) ? namedFiles(this.read(file), file, this.files) : [];
      neighbours = [...(this.imports.get(file) ?? []), ...named];
      this.neighbours.set(file, neighbours);
    }
    return neighbours;
  }
}

/**
 * Reads the import graph of the working tree.
 *
 * @param {ReadonlySet<string>} files all files of the repository
 * @returns {Promise<MeasuredCode>}
 */
export async function readMeasuredCode(files) {
  const { enhancedResolveOptions, tsConfig, ...options } = cruiserConfiguration.options;
  const { output } = await cruise(
    ['bench', 'test', 'scripts', 'libs', 'apps', 'clients'],
    { ...options, tsPreCompilationDeps: false, baseDir: root },
    enhancedResolveOptions,
    { tsConfig: extractTsConfig(join(root, tsConfig.fileName)) },
  );
  if (typeof output === 'string') throw new Error(`dependency-cruiser gave no graph: ${output}`);
  const imports = new Map(
    output.modules
      .filter(({ source }) => files.has(source))
      .map(({ source, dependencies }) => [
        source,
        dependencies.map(({ resolved }) => resolved).filter((resolved) => files.has(resolved)),
      ]),
  );
  return new MeasuredCode(imports, files, (file) => readFileSync(join(root, file), 'utf8'));
}

/** @param {string} file */
function workspaceOf(file) {
  return file.split('/').slice(0, 2).join('/');
}
