import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeHash } from './module-code.js';

describe('codeHash', () => {
  let scratch: string;
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'retrace-code-'));
  });
  afterEach(() => {
    rmSync(scratch, { recursive: true });
  });

  function write(path: string, text: string): string {
    const file = join(scratch, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  const ENTRY =
    "import { one } from './parts/one.mjs';\nimport fs from 'node:fs';\nexport default [one, fs];\n";

  it('does not depend on the directory of the files', () => {
    const entry = write('a/entry.mjs', ENTRY);
    write('a/parts/one.mjs', "export { one } from './two.mjs';");
    write('a/parts/two.mjs', 'export const one = 1;');
    cpSync(join(scratch, 'a'), join(scratch, 'b/c'), { recursive: true });
    expect(codeHash(join(scratch, 'b/c/entry.mjs'))).toBe(codeHash(entry));
    expect(codeHash(`file://${entry}`)).toBe(codeHash(entry));
  });

  it('changes with files that are imported indirectly, and with no others', () => {
    const entry = write('entry.mjs', ENTRY);
    write('parts/one.mjs', "export { one } from './two.mjs';");
    write('parts/two.mjs', 'export const one = 1;');
    write('parts/three.mjs', 'export const three = 3;');
    const before = codeHash(entry);
    write('parts/three.mjs', 'export const three = 4;');
    expect(codeHash(entry)).toBe(before);
    write('parts/two.mjs', 'export const one = 2;');
    expect(codeHash(entry)).not.toBe(before);
  });

  it('accepts files that import each other', () => {
    const entry = write('entry.mjs', "import './other.mjs';");
    write('other.mjs', "import './entry.mjs';");
    expect(codeHash(entry)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('includes the version of an imported package', () => {
    const entry = write('entry.mjs', "import 'pick';");
    write('node_modules/pick/package.json', '{"version":"1.0.0"}');
    const before = codeHash(entry);
    write('node_modules/pick/package.json', '{"version":"1.0.1"}');
    expect(codeHash(entry)).not.toBe(before);
  });

  it('ignores imports of types', () => {
    const entry = write('entry.ts', "import type { A } from './a.js';\nimport { type B } from './b.js';\n");
    write('a.ts', 'export type A = 1;');
    write('b.ts', 'export type B = 1;');
    const before = codeHash(entry);
    write('a.ts', 'export type A = 2;');
    write('b.ts', 'export type B = 2;');
    expect(codeHash(entry)).toBe(before);
    write('entry.ts', "import { type A, a } from './a.js';\n");
    const withValue = codeHash(entry);
    write('a.ts', 'export const a = 3;');
    expect(codeHash(entry)).not.toBe(withValue);
  });

  it('reads the source of a compiled file, whichever compiler made it', () => {
    write('src/entry.ts', "import { one } from './one.js';\nexport const two: number = one + 1;\n");
    write('src/one.ts', 'export const one = 1;');
    const compiled = write('dist/entry.js', "import { one } from './one.js';\nexport const two = one + 1;\n");
    expect(codeHash(compiled)).toBe(codeHash(join(scratch, 'src/entry.ts')));
  });

  it('finds the sources of a project in a folder named dist', () => {
    write('src/entry.ts', "import { one } from './one.js';\nexport const two: number = one + 1;\n");
    write('src/one.ts', 'export const one = 1;');
    cpSync(join(scratch, 'src'), join(scratch, 'dist/project/src'), { recursive: true });
    const compiled = write('dist/project/dist/entry.js', "import { one } from './one.js';\n");
    expect(codeHash(compiled)).toBe(codeHash(join(scratch, 'src/entry.ts')));
  });

  it.each([
    ['a file that is not there', null, 'cannot be read'],
    ['what is no module', 'export default {', 'is not a JavaScript module'],
  ])('refuses %s and names the import', (_, text, rule) => {
    const file = text === null ? join(scratch, 'entry.mjs') : write('entry.mjs', text);
    expect(() => codeHash(file)).toThrowError(
      expect.objectContaining({
        code: 'MODULE_UNREADABLE',
        message: expect.stringMatching(new RegExp(`entry.mjs: ${rule}`)) as string,
      }) as Error,
    );
  });
});
