import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '../read-environment.js';
import { loadEnvironmentModule } from './load-environment-module.js';

/** A fair coin, in TypeScript, without imports. */
const COIN = `
interface Options { readonly sides?: number }
enum Unused { A }
export default ({ sides = 2 }: Options) => {
  if (sides < 2) throw new Error('sides must be 2 or more');
  return {
    name: 'coin', description: 'Guess the side', maxSteps: 1, words: null, actionWords: null,
    offersAnchors: false, splitsAreDisjoint: false,
    create: () => ({ reset: () => ({ text: \`one of \${sides}\`, anchor: null, legalActions: null }), step() {}, close() {} }),
    sampleTask: ({ index, seed }: { index: number; seed: number }) => ({ task: { index }, seed }),
    agents: [{ name: 'random', act: () => '0' }],
  };
};`;

describe('loadEnvironmentModule', () => {
  let scratch: string;
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'retrace-environment-'));
  });
  afterEach(() => {
    rmSync(scratch, { recursive: true });
  });

  function write(name: string, text: string): string {
    const file = join(scratch, name);
    writeFileSync(file, text);
    return file;
  }

  it('runs a TypeScript file and gives its function the options', async () => {
    const file = write('coin.ts', COIN);
    const spec = await loadEnvironmentModule(file, { sides: 6 });
    expect(spec.create().reset({ task: null, seed: 1 })).toMatchObject({ text: 'one of 6' });
    expect(await readEnvironment({ module: file })).toMatchObject({ name: 'coin', words: null });
  });

  it.each([
    ['it does not exist', null, {}, 'not found'],
    [
      'it exports no default',
      'export const mine = 1;',
      {},
      'has no default export; must be export default {',
    ],
    ['its default is no environment', 'export default 7;', {}, 'it is number, must be an object'],
    ['a field is missing', `export default { name: 'a' };`, {}, 'description is undefined, must be a string'],
    ['it throws', "throw new Error('no licence');", {}, 'running it failed: no licence'],
    ['its function throws', COIN, { sides: 1 }, 'its function failed: sides must be 2 or more'],
    [
      'it is given options that it does not take',
      `export default { name: 'a' };`,
      { a: 1 },
      'takes no options, got a',
    ],
    ['it is no TypeScript', 'export default {{', {}, 'running it failed'],
  ])('refuses a file, naming it, when %s', async (_, text, options, rule) => {
    const file = text === null ? join(scratch, 'gone.ts') : write('mine.ts', text);
    const error: unknown = await loadEnvironmentModule(file, options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MODULE_INVALID', retriable: false });
    expect((error as Error).message).toContain(`environment module ${file}: `);
    expect((error as Error).message).toContain(rule);
  });
});
