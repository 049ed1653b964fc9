import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RewardComposer, type ComponentConfig } from '../../composer.js';
import { rewardVersion } from '../../reward-version.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeHash } from './module-code.js';
import { RewardScorer } from '../reward-scorer.js';
import { decidingModules } from './scoring-code.js';

const LIBS = fileURLToPath(new URL('../../../../', import.meta.url));
const PLAIN: ComponentConfig[] = [{ reward: 'goal' }];
const JUDGED: ComponentConfig[] = [{ reward: 'judge', options: { model: 'grader' } }];
const EXPLORING: ComponentConfig[] = [{ reward: 'explorationBonus' }];

/** Versions over a copy of the sources, in which single files change. */
describe('the code behind a reward version', () => {
  let copy: string;
  beforeAll(() => {
    copy = `${mkdtempSync(join(tmpdir(), 'retrace-libs-'))}/`;
    cpSync(join(LIBS, 'rewards/src'), join(copy, 'rewards/src'), { recursive: true });
    symlinkSync(join(LIBS, '..', 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => {
    rmSync(copy, { recursive: true });
  });

  function versionOf(components: ComponentConfig[]): string {
    const composer = new RewardComposer(components);
    return rewardVersion(
      composer,
      { rule: 'perStep' },
      {
        hash: (text) => createHash('sha256').update(text).digest('hex'),
        codeOf: (module) => codeHash(fileURLToPath(module).replace(LIBS, copy)),
        modules: decidingModules(composer),
      },
    );
  }

  /** Which of the three compositions have another version when a file does something else. */
  function changedBy(file: string): string[] {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    const compositions = { plain: PLAIN, judged: JUDGED, exploring: EXPLORING };
    const before = Object.entries(compositions).map(
      ([name, given]) => [name, given, versionOf(given)] as const,
    );
    writeFileSync(path, `${text}\nglobalThis.other = true;\n`);
    const changed = before.filter(([, given, version]) => versionOf(given) !== version);
    writeFileSync(path, text);
    return changed.map(([name]) => name);
  }

  it('gives the version that RewardScorer reports', () => {
    const definition = { components: JUDGED, allocation: 'perStep', allocationGamma: 1 } as const;
    expect(new RewardScorer(definition).version).toBe(versionOf(JUDGED));
  });

  const all = ['plain', 'judged', 'exploring'];
  it.each([
    ['rewards/src/composer.ts', all],
    ['rewards/src/allocation/allocation.ts', all],
    ['rewards/src/task-path.ts', all],
    ['rewards/src/scoring/reward-episode.ts', all],
    ['rewards/src/scoring/read-reward-episodes.ts', all],
    ['rewards/src/scoring/token-rewards.ts', all],
    ['rewards/src/scoring/judge/verdict.ts', ['judged']],
    ['rewards/src/components/judge-reward.ts', ['judged']],
    ['rewards/src/scoring/state-visits.ts', ['exploring']],
    ['rewards/src/components/state-rewards.ts', ['exploring']],
  ])('includes %s where a component needs it', (file, compositions) => {
    expect(changedBy(file)).toEqual(compositions);
  });

  it.each([
    'rewards/src/scoring/score-run.ts',
    'rewards/src/scoring/score-table.ts',
    'rewards/src/scoring/diff/diff-scores.ts',
    'rewards/src/scoring/judge/judge-client.ts',
    'rewards/src/scoring/judge/verdict-store.ts',
    'rewards/src/scoring/judge/verdict-archive.ts',
    'rewards/src/components/answer-rewards.ts',
    'rewards/src/judge.ts',
  ])('does not include %s, on which no score depends', (file) => {
    expect(changedBy(file)).toEqual([]);
  });

  it('does not depend on line endings', () => {
    const path = join(copy, 'rewards/src/scoring/token-rewards.ts');
    const text = readFileSync(path, 'utf8');
    const before = versionOf(PLAIN);
    writeFileSync(path, text.replaceAll('\n', '\r\n'));
    expect(versionOf(PLAIN)).toBe(before);
    writeFileSync(path, text);
  });
});
