import { describe, expect, it } from 'vitest';
import { namedFiles } from './named-files.mjs';

const FILES = new Set([
  'bench/main-job.bench.mjs',
  'bench/worker.mjs',
  'bench/peers/generate.py',
  'apps/api/src/main.ts',
  'libs/store/src/migrate.ts',
  'libs/store/src/schema.ts',
  'migrations/0001_events.sql',
  'migrations/README.md',
]);
const of = (text, path = 'bench/main-job.bench.mjs') => [...namedFiles(text, path, FILES)].sort();

describe('the files that a script names', () => {
  it('are beside it, or below the root', () => {
    expect(of("fork(new URL('worker.mjs', import.meta.url))")).toEqual(['bench/worker.mjs']);
    expect(of("const script = 'bench/worker.mjs';")).toEqual(['bench/worker.mjs']);
    expect(of("new URL('peers/generate.py', import.meta.url)")).toEqual(['bench/peers/generate.py']);
  });

  it('are joined from the arguments of a call', () => {
    expect(of("join(root, 'bench', 'peers', 'generate.py')")).toEqual(['bench/peers/generate.py']);
  });

  it('are sources where the file is built', () => {
    expect(of("join(root, 'apps', 'api', 'dist', 'main.js')")).toEqual(['apps/api/src/main.ts']);
    expect(of("import { migrate } from '../libs/store/dist/migrate.js';")).toEqual([
      'libs/store/src/migrate.ts',
    ]);
  });

  it('are all code in a folder that is named', () => {
    const path = 'libs/store/src/migrate.ts';
    expect(of("new URL('../../../migrations', import.meta.url)", path)).toEqual([
      'migrations/0001_events.sql',
    ]);
    expect(of("run(['libs/store/src'])")).toEqual(['libs/store/src/migrate.ts', 'libs/store/src/schema.ts']);
  });

  it('are none where a string is one word, leads upwards, or names a type', () => {
    expect(of("f('bench'); f('migrations'); f('..'); f('../..', 'x')")).toEqual([]);
    expect(of("let x: import('./schema.js').Schema", 'libs/store/src/migrate.ts')).toEqual([]);
    expect(of("import type { Schema } from './schema.js'", 'libs/store/src/migrate.ts')).toEqual([]);
  });
});
