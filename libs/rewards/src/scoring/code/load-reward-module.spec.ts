import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RewardEpisode } from '../../episode.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RewardScorer } from '../reward-scorer.js';

const EPISODE: RewardEpisode = {
  environment: 'test',
  task: null,
  steps: [],
  finalObservation: 'the end',
  endReason: 'terminated',
  success: true,
};

/** A schema by hand: any object with these parts is one. */
const HEAD = `const most = { fallback: 10, rule: 'a number > 0', accepts: (v) => typeof v === 'number' && v > 0 };
const common = { name: 'mine', description: 'of one\\'s own', options: { most } };`;

describe('rewards from files', () => {
  let scratch: string;
  let file: string;
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'retrace-module-'));
    file = join(scratch, 'mine.mjs');
  });
  afterEach(() => {
    rmSync(scratch, { recursive: true });
  });

  function load(options: Record<string, unknown> = {}): Promise<RewardScorer> {
    return RewardScorer.load({
      components: [{ module: file, options }],
      allocation: 'lastToken',
      allocationGamma: 1,
    });
  }

  function loadText(text: string, options: Record<string, unknown> = {}): Promise<RewardScorer> {
    writeFileSync(file, text);
    return load(options);
  }

  const scoreOf = async (scorer: RewardScorer) => {
    const [reward] = await scorer.scoreEpisodes([{ episodeId: 'e', episode: EPISODE }]);
    return reward;
  };

  const GOOD = `${HEAD}
export default { ...common, score: (episode, { most }) => ({ scope: 'episode', value: Math.min(most, episode.finalObservation.length) }) };`;

  it('score like built-in rewards, with validated options and defaults', async () => {
    expect((await scoreOf(await loadText(GOOD))).total).toBe(7);
    expect((await scoreOf(await load({ most: 3 }))).components).toMatchObject([{ name: 'mine', value: 3 }]);
    await expect(load({ most: -1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'reward mine: most is -1, must be a number > 0',
    });
    await expect(load({ moost: 1 })).rejects.toThrow("no option is named 'moost'; did you mean most?");
  });

  it('may wrap a built-in one, whose options are filled in', async () => {
    const wrapping = `import { defineReward, getReward, resolveRewardOptions, real } from '@retrace/rewards';
const { component } = getReward('goal');
export default defineReward({
  name: 'clipped goal',
  description: 'goal, of at most "most"',
  options: { most: real(10) },
  async score(episode, { most }, context) {
    const { scope, value } = await component.score(episode, resolveRewardOptions(component, { success: 3 }), context);
    return { scope, value: value === null ? null : Math.min(most, value) };
  },
});`;
    expect((await scoreOf(await loadText(wrapping))).total).toBe(3);
    expect((await scoreOf(await loadText(wrapping, { most: 2 }))).total).toBe(2);
  });

  it('get another version when their file is edited, and are loaded again', async () => {
    const before = await loadText(GOOD);
    const after = await loadText(GOOD.replace('finalObservation.length', 'finalObservation.length - 1'));
    expect((await scoreOf(after)).total).toBe(6);
    expect(after.version).not.toBe(before.version);
    expect((await loadText(GOOD)).version).toBe(before.version);
  });

  it.each([
    ['it does not exist', null, 'not found'],
    ['it exports no default', 'export const mine = 1;', 'has no default export'],
    ['its default is not a reward', 'export default 7;', 'reward is number, must be an object'],
    ['it has no name', `export default { options: {}, score() {} };`, 'name is undefined, must be a text'],
    ['it has no score', `${HEAD} export default common;`, 'score is undefined, must be a function'],
    [
      'an option is no schema',
      `${HEAD} export default { ...common, options: { most: 3 }, score() {} };`,
      'option most must be made by real()',
    ],
    ['it throws', "throw new Error('no licence');", 'running it failed: no licence'],
    ['it does not parse', 'export default {', 'is not a JavaScript module'],
    ['it imports what is not there', "import './gone.mjs';", 'gone.mjs: cannot be read'],
  ])('are refused, naming the file, when %s', async (_, text, what) => {
    const loading = text === null ? load() : loadText(text);
    const error: unknown = await loading.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MODULE_INVALID' });
    expect((error as Error).message).toContain(`reward module ${file}`);
    expect((error as Error).message).toContain(what);
  });

  it('are refused at a relative path', async () => {
    file = './mine.mjs';
    await expect(load()).rejects.toThrow('must be an absolute path');
  });

  it('are refused under a name that another component has, and accepted under a new one', async () => {
    writeFileSync(file, GOOD.replace("name: 'mine'", "name: 'goal'"));
    const load = (name?: string) =>
      RewardScorer.load({
        components: [{ reward: 'goal' }, { module: file, ...(name === undefined ? {} : { name }) }],
        allocation: 'lastToken',
        allocationGamma: 1,
      });
    await expect(load()).rejects.toMatchObject({
      code: 'DUPLICATE_NAME',
      message: "two reward components are named 'goal'",
    });
    expect((await scoreOf(await load('own goal'))).components.map(({ name }) => name)).toEqual([
      'goal',
      'own goal',
    ]);
  });

  it.each([
    ['throws', "() => { throw new Error('out of ideas'); }", 'out of ideas'],
    ['rejects', "() => Promise.reject(new Error('out of time'))", 'out of time'],
    ['returns NaN', "() => ({ scope: 'episode', value: NaN })", 'value is NaN, must be finite or null'],
    ['returns a text', "() => ({ scope: 'episode', value: '1' })", 'value is "1", must be finite or null'],
    ['returns a bare number', '() => 1', "outcome is 1, must be { scope: 'episode', value }"],
    ['returns nothing', '() => {}', 'outcome is undefined'],
    ['resolves to nothing', 'async () => {}', 'outcome is undefined'],
    ['resolves to NaN', "async () => ({ scope: 'episode', value: NaN })", 'value is NaN, must be finite'],
    ['leaves out the value', "() => ({ scope: 'episode' })", 'value is undefined, must be finite or null'],
    ['has a scope of its own', "() => ({ scope: 'token', values: [] })", 'outcome is {"scope":"token"'],
    [
      'returns no list',
      "() => ({ scope: 'step', values: 3 })",
      'values is 3, must be a list with a value for each',
    ],
    ['leaves out the list', "() => ({ scope: 'step' })", 'values is undefined, must be a list'],
    ['throws what is no error', "() => { throw 'a text'; }", 'a text'],
    [
      'returns too many steps',
      "() => ({ scope: 'step', values: [1] })",
      '1 step values, must be one for each of the 0',
    ],
  ])('give a fault and no total on an episode where one %s', async (_, score, fault) => {
    const reward = await scoreOf(await loadText(`${HEAD} export default { ...common, score: ${score} };`));
    expect(reward.total).toBeNull();
    expect(reward.components[0].fault).toContain(fault);
  });
});
