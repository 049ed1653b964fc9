import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { resolveRecipe } from '@retrace/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './support/cli.mjs';

/** How a recipe is made bad: by assignments to `bandit-ppo`, or by a file that is written. */
interface BadRecipe {
  readonly what: string;
  /** Part of the message: the field, its value and the rule. */
  readonly says: string;
  readonly set?: readonly string[];
  readonly text?: string;
  readonly long?: { readonly field: string; readonly length: number };
  /** Number of lists in one another, as the value of a field. */
  readonly nested?: number;
  /** Number of fields that no recipe has. */
  readonly unknown?: number;
  readonly directory?: boolean;
}

interface Refusal {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly left: readonly string[];
}

const recipes = JSON.parse(
  readFileSync(join(root, 'test', 'bad-recipes.json'), 'utf8'),
) as readonly BadRecipe[];
/** The commands that take a recipe to run, in turns. */
const COMMANDS = [['train'], ['up', '--port', '0'], ['doctor']];
const DEADLINE_MS = 60_000;

describe('a bad recipe is refused with exit code 2 before anything starts', () => {
  const files = mkdtempSync(join(tmpdir(), 'retrace-recipes-'));
  const dataDirectory = join(files, 'data');
  let refusals: readonly Refusal[] = [];

  beforeAll(async () => {
    mkdirSync(dataDirectory);
    const commands = recipes.map((recipe, index) => [
      ...COMMANDS[index % COMMANDS.length],
      ...argumentsFor(recipe, join(files, `${index}.json`)),
      ...['--data-dir', dataDirectory],
    ]);
    refusals = await refuse(dataDirectory, commands);
  }, DEADLINE_MS + 10_000);
  afterAll(() => {
    rmSync(files, { recursive: true });
  });

  it('has a hundred examples', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(100);
    expect(new Set(recipes.map(({ what }) => what)).size).toBe(recipes.length);
  });

  it.each(recipes.map((recipe, index) => ({ index, ...recipe })))('$what', ({ index, says }) => {
    const { stderr, ...others } = refusals[index];
    expect(stderr).toContain(says);
    expect(others).toEqual({ code: 2, stdout: '', left: [] });
    // One sentence that a terminal shows as it is, and that fits on a page.
    expect(stderr).toMatch(/^retrace: [^\p{Cc}\p{Cf}]+$/u);
    expect(stderr.length).toBeLessThan(4000);
  });
});

function argumentsFor(recipe: BadRecipe, path: string): string[] {
  if (recipe.set) return ['--recipe', 'bandit-ppo', ...recipe.set.flatMap((value) => ['--set', value])];
  if (recipe.directory === true) mkdirSync(path);
  else writeFileSync(path, textOf(recipe));
  return ['--recipe', path];
}

function textOf({ text, long, nested, unknown = 0 }: BadRecipe): string {
  if (text !== undefined) return text;
  if (nested !== undefined) return `{"seed":${'['.repeat(nested)}${']'.repeat(nested)}}`;
  const others = Array.from({ length: unknown }, (_, n) => [`field${n}`, n]);
  const field = long ? { [long.field]: 'a'.repeat(long.length) } : {};
  return JSON.stringify({ ...resolveRecipe('bandit-ppo'), ...Object.fromEntries(others), ...field });
}

/** Runs the command lines in a process of their own, which is ended where it goes on to train. */
async function refuse(directory: string, commands: readonly string[][]): Promise<Refusal[]> {
  const child = spawn(process.execPath, [join(root, 'test', 'support', 'refuse-recipes.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: DEADLINE_MS,
  });
  child.stdin.end(JSON.stringify({ directory, commands }));
  return (await json(child.stdout)) as Refusal[];
}
