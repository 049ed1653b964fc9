import { describe, expect, it } from 'vitest';
import { MeasuredCode } from './measured-code.mjs';

const TEXTS = {
  'bench/a.bench.mjs': "import '@retrace/store'; fork(new URL('child.mjs', import.meta.url))",
  'bench/child.mjs': "import '@retrace/log'",
  'bench/b.bench.mjs': '',
  'libs/store/src/index.ts': "export * from './migrate.js'",
  'libs/store/src/migrate.ts': "new URL('../../../migrations', import.meta.url)",
  'libs/log/src/index.ts': '',
  'libs/log/native/log.cc': '',
  'libs/compute/native/ops.cc': '',
  'migrations/0001_events.sql': '',
};
const IMPORTS = new Map([
  ['bench/a.bench.mjs', ['libs/store/src/index.ts']],
  ['bench/child.mjs', ['libs/log/src/index.ts']],
  ['bench/b.bench.mjs', []],
  ['libs/store/src/index.ts', ['libs/store/src/migrate.ts']],
  ['libs/store/src/migrate.ts', []],
  ['libs/log/src/index.ts', []],
]);
const code = new MeasuredCode(IMPORTS, new Set(Object.keys(TEXTS)), (file) => TEXTS[file]);

describe('the code that a script measures', () => {
  it('is what it imports, the programs that it names with their imports, and their native sources', () => {
    expect(code.of('bench/a.bench.mjs')).toEqual([
      'bench/a.bench.mjs',
      'bench/child.mjs',
      'libs/log/native/log.cc',
      'libs/log/src/index.ts',
      'libs/store/src/index.ts',
      'libs/store/src/migrate.ts',
      'migrations/0001_events.sql',
    ]);
  });

  it('is itself where it imports nothing', () => {
    expect(code.of('bench/b.bench.mjs')).toEqual(['bench/b.bench.mjs']);
  });
});
