import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../run-tool.mjs';
import { listResults, readCircumstances, renderResult } from './result-file.mjs';

const CIRCUMSTANCES = {
  command: 'npm run bench -- writer -- --seconds 4',
  passed: true,
  // Made of digits only, which YAML reads as a number unless it is quoted.
  commit: '012345678901',
  date: '2026-11-22T03:00:54.414Z',
  seconds: 44,
  node: '20.20.2',
  cores: 2,
  cpu: 'Some CPU: fast',
};

describe('a recorded result', () => {
  it('gives back the circumstances that were written, with their types', () => {
    const text = renderResult(CIRCUMSTANCES, { title: 'Appends', figures: [{ name: 'events', value: 1 }] });
    expect(readCircumstances(text, 'writer.md')).toEqual(CIRCUMSTANCES);
  });

  it('shows figures in a table, rounded to four digits, with a column of aims where one has an aim', () => {
    const figures = [
      { name: 'rate', value: 34327.4, unit: 'steps/s', aim: '≥ 20,000, met' },
      { name: 'share', value: 0.453912 },
      { name: 'verdict', value: 'passed' },
    ];
    const text = renderResult(CIRCUMSTANCES, { title: 'Appends', figures, notes: 'Measured at rest.' });
    expect(text.slice(text.indexOf('# '))).toBe(
      `# Appends

| figure | value | unit | aim |
| --- | ---: | --- | --- |
| rate | 34,327 | steps/s | ≥ 20,000, met |
| share | 0.4539 |  |  |
| verdict | passed |  |  |

Measured at rest.
`,
    );
  });

  it('says so where the script failed', () => {
    const text = renderResult({ ...CIRCUMSTANCES, passed: false }, { title: 'Appends', figures: [] });
    expect(text).toContain('**Failed:**');
    expect(readCircumstances(text, 'writer.md').passed).toBe(false);
  });

  it('is refused by name where its front matter is missing', () => {
    expect(() => readCircumstances('# Appends\n', 'writer.md')).toThrow(/writer\.md has no front matter/);
  });

  it('can be read for every file in docs/results', () => {
    const folder = join(root, 'docs', 'results');
    const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.md'));
    expect(files.length).toBeGreaterThan(20);
    for (const file of files) {
      const { command, seconds } = readCircumstances(readFileSync(join(folder, file), 'utf8'), file);
      const [script] = file.replace(/\.md$/, '').split(sep);
      expect(command).toContain(script);
      expect(seconds).toBeGreaterThan(0);
    }
  });

  it('is found by the name of its script, alone or as one of several parts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'retrace-results-'));
    try {
      mkdirSync(join(folder, 'learning'));
      for (const file of ['writer.md', 'learning/b.md', 'learning/a.md'])
        writeFileSync(join(folder, file), '');
      expect(listResults(folder, 'writer')).toEqual(['writer.md']);
      expect(listResults(folder, 'learning')).toEqual([join('learning', 'a.md'), join('learning', 'b.md')]);
      expect(listResults(folder, 'kills')).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
