import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectories, root, runRetrace } from './support/cli.mjs';

const directories = new DataDirectories();
/** Where what is collected is stored. */
const data = ['--data-dir', directories.make()];

/** The file in a folder outside the repository, where no package is found. */
function moduleElsewhere(): string {
  const path = join(directories.make(), 'twenty-one.ts');
  copyFileSync(join(root, 'test/support/twenty-one.ts'), path);
  return path;
}

describe('an environment in a TypeScript file of one’s own', () => {
  afterAll(() => {
    directories.removeAll();
  });

  it('is played by collect with its own scripted agent', async () => {
    const collected = await runRetrace([
      ...['collect', '--environment', moduleElsewhere(), '--policy', 'careful', '--episodes', '40'],
      ...data,
      '--json',
    ]);
    expect(collected.stderr).toBe('');
    expect(JSON.parse(collected.stdout)).toMatchObject({ numEpisodes: 40 });
    expect((JSON.parse(collected.stdout) as { success: number }).success).toBeGreaterThan(0.3);
  });

  /** Collects episodes of the environment with `fault` in place of a text of its file, which fails in all of them. */
  async function collectFailures(text: string, fault: string): Promise<void> {
    const broken = moduleElsewhere();
    writeFileSync(broken, readFileSync(broken, 'utf8').replace(text, fault));
    const collected = await runRetrace([
      ...['collect', '--environment', broken, '--policy', 'careful', '--episodes', '3', ...data],
    ]);
    expect(collected.code).toBe(1);
    expect(collected.stderr).toContain('environment "twenty-one" failed in all 3 episodes, last because');
  }

  it('collect exits 1 where all of its few episodes failed in a step', { tags: 'release' }, () =>
    collectFailures('this.numSteps += 1;', "throw new Error('the table fell over');"),
  );

  it('collect exits 1 where all of its few episodes failed in a reset', { tags: 'release' }, () =>
    collectFailures("if (typeof start !== 'number') throw", "if (typeof start === 'number') throw"),
  );

  it('collect exits 0 where only some episodes failed', { tags: 'release' }, async () => {
    const broken = moduleElsewhere();
    const fault = "if (task.start > 5) throw new Error('too high');\n    if (typeof start";
    writeFileSync(broken, readFileSync(broken, 'utf8').replace('if (typeof start', fault));
    const collected = await runRetrace([
      ...['collect', '--environment', broken, '--policy', 'careful', '--episodes', '20'],
      ...data,
      '--json',
    ]);
    expect(collected.code).toBe(0);
    expect(collected.stderr).toContain('too high');
    expect(JSON.parse(collected.stdout)).toMatchObject({ numEpisodes: 20 });
  });

  it(
    'without a fixed vocabulary, a recipe with the word tokenizer is refused with what to do',
    { tags: 'release' },
    async () => {
      const set = ['--set', `environment=${JSON.stringify({ module: moduleElsewhere() })}`];
      const args = ['train', '--recipe', 'bandit-ppo', ...set, '--data-dir', directories.make()];
      const { code, stderr } = await runRetrace(args);
      expect(code).toBe(2);
      expect(stderr).toContain(
        'context.tokenizer: got "word", must be model (with policy.model) or byte: twenty-one has no fixed vocabulary',
      );
    },
  );
});

describe('retrace env', () => {
  it('checks every rule of an environment, and says which one a broken environment breaks', async () => {
    const good = moduleElsewhere();
    const kept = await runRetrace(['env', 'check', good]);
    expect(kept.stdout.split('\n').filter((line) => !line.startsWith('ok'))).toEqual([]);
    expect(kept.code).toBe(0);
    const broken = join(directories.make(), 'broken.ts');
    const text = readFileSync(good, 'utf8');
    writeFileSync(broken, text.replace('success: this.isOver ? ', 'success: true ? '));
    const { code, stdout, stderr } = await runRetrace(['env', 'check', broken]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^broken {2}success is known only at the end\n +success is (true|false) before the end/m,
    );
    expect(stderr).toContain('twenty-one breaks 1 of 15 rules');
  });
});
