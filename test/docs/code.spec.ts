import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseRecipe, resolveRecipe } from '@retrace/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../scripts/run-tool.mjs';
import { placeOf, readBlocks } from './blocks.mjs';
import { isListedBy, UNRUN_BLOCKS, unrunReasonOf } from './unrun-blocks.mjs';

type Plain = Record<string, unknown>;

const blocks = readBlocks().map((block) => ({ ...block, place: placeOf(block) }));
const isListed = (block: { readonly page: string; readonly text: string }) => unrunReasonOf(block) !== null;
const ofLanguage = (...languages: readonly string[]) =>
  blocks.filter((block) => languages.includes(block.language) && !isListed(block));

describe('blocks of the pages', () => {
  it('are run by a spec of this folder, or listed with the reason why not', () => {
    const run = new Set(['sh', 'bash', 'sql', 'json', 'js', 'ts']);
    const isPythonOfTask = ({ page, language }: { readonly page: string; readonly language: string }) =>
      language === 'python' && page.startsWith('docs/how-to/');
    expect(
      blocks.filter((block) => !run.has(block.language) && !isPythonOfTask(block) && !isListed(block)),
    ).toEqual([]);
  });

  it('that are listed exist, and each entry excuses one', () => {
    const excused = UNRUN_BLOCKS.map((listed) => blocks.filter((block) => isListedBy(listed, block)).length);
    expect(excused).toEqual(UNRUN_BLOCKS.map(() => 1));
  });
});

describe('parts of recipes in the pages', () => {
  /** Recipes that a reader may have as a start; a part is of any of them, as a whole or within a field. */
  const starts = [
    'bandit-ppo',
    'frozen-lake-grpo',
    'frozen-lake-imitation',
    'textcraft-gigpo',
    // Those of byte tokens, which any environment has, and of a model directory.
    ['bandit-ppo', { context: { tokenizer: 'byte', window: 'observation' } }],
    [
      'bandit-ppo',
      {
        model: null,
        policy: { model: './m', maxPositions: 512 },
        context: { tokenizer: 'model', window: 'observation' },
      },
    ],
  ].map((start) => {
    const [name, changes] = typeof start === 'string' ? [start, {}] : (start as [string, Plain]);
    return merged(JSON.parse(JSON.stringify(resolveRecipe(name))), changes) as Plain;
  });

  it.each(ofLanguage('json'))('$place is taken by the reader of recipes', ({ text }) => {
    const part = JSON.parse(text.startsWith('{') ? text : `{${text}}`) as Plain;
    delete part.$schema;
    const refusals = starts.flatMap((start) =>
      placesOf(start, part).map((placed) => refusalOf(merged(start, placed))),
    );
    expect(refusals.includes(null), [...new Set(refusals)].join('\n')).toBe(true);
  });

  /** The part as a whole recipe, within each of its fields, and as a component of its reward. */
  function placesOf(start: Plain, part: Plain): readonly Plain[] {
    const fields = Object.keys(start).filter((name) => isObject(start[name]));
    // Either says how long a run is.
    const whole = 'epochs' in part ? { numUpdates: undefined, ...part } : part;
    return [whole, ...fields.map((name) => ({ [name]: part })), { reward: { components: [part] } }];
  }

  function refusalOf(recipe: unknown): string | null {
    try {
      parseRecipe(JSON.parse(JSON.stringify(recipe)));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  function merged(start: unknown, part: unknown): unknown {
    if (!isObject(start) || !isObject(part)) return part;
    const fields = Object.entries(part).map(([name, value]) => [name, merged(start[name], value)]);
    return { ...start, ...(Object.fromEntries(fields) as Plain) };
  }

  function isObject(value: unknown): value is Plain {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
});

describe('modules in the pages', () => {
  /** Packages of the workspace are found from here. */
  const folder = join(root, 'node_modules', '.retrace-docs');
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('load as they are printed', () => {
    const modules = ofLanguage('js').map(({ text }, i) => {
      const path = join(folder, `block-${i}.mjs`);
      writeFileSync(path, text);
      return pathToFileURL(path).href;
    });
    const load = `for (const path of ${JSON.stringify(modules)}) console.log((await import(path)).default.name)`;
    // The packages as they are built, which users have.
    const names = execFileSync(process.execPath, ['--input-type=module', '-e', load], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    expect(names.trim().split('\n')).toEqual(['arrow', 'brief', 'shortAnswers']);
  });
});
