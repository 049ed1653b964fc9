import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AllocationOptions } from './allocation/allocation.js';
import { RewardComposer, rewardVersion, type ComponentConfig } from './index.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
let codeOf = (module: string): string => module;
const versionOf = (configs: ComponentConfig[], allocation: AllocationOptions = { rule: 'perStep' }): string =>
  rewardVersion(new RewardComposer(configs), allocation, {
    hash: sha256,
    codeOf: (module) => codeOf(module),
  });

const GOAL: ComponentConfig = { reward: 'goal', weight: 2, options: { success: 1, failure: 0 } };

describe('rewardVersion', () => {
  it('is the same for configurations that differ only in how they are written', () => {
    const version = versionOf([GOAL]);
    expect(versionOf([{ ...GOAL, options: { failure: 0, success: 1 } }])).toBe(version);
    expect(versionOf([{ ...GOAL, name: 'goal' }])).toBe(version);
    expect(versionOf([GOAL], { rule: 'perStep', gamma: 1 })).toBe(version);
    expect(versionOf([{ reward: 'goal', weight: 2, options: { failure: 0 } }])).toBe(version);
  });

  it('changes with every part of the configuration', () => {
    const versions = [
      versionOf([GOAL]),
      versionOf([{ ...GOAL, weight: 1 }]),
      versionOf([{ ...GOAL, options: { failure: -1 } }]),
      versionOf([{ ...GOAL, name: 'won' }]),
      versionOf([GOAL, { reward: 'environment' }]),
      versionOf([{ reward: 'environment' }, GOAL]),
      versionOf([GOAL], { rule: 'lastToken' }),
      versionOf([GOAL], { rule: 'perStep', gamma: 0.9 }),
    ];
    expect(new Set(versions).size).toBe(versions.length);
  });

  it('changes with the code of its components, the composer and the allocation, and with no other code', () => {
    const version = versionOf([GOAL]);
    const changed = (part: string) => {
      codeOf = (module) => (module.includes(part) ? 'changed' : module);
      const other = versionOf([GOAL]);
      codeOf = (module) => module;
      return other !== version;
    };
    expect(['environment-rewards', 'composer', 'allocation', 'answer-rewards'].map(changed)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('does not change with options that cannot change a score', () => {
    const judge = { reward: 'judge', options: { model: 'a' } };
    const elsewhere = {
      ...judge,
      options: { ...judge.options, endpoint: 'https://judges.example/v1', timeoutMs: 5 },
    };
    expect(versionOf([elsewhere])).toBe(versionOf([judge]));
    expect(versionOf([{ ...judge, options: { model: 'b' } }])).not.toBe(versionOf([judge]));
  });
});
