import { describe, expect, it } from 'vitest';
import { readRoleConfig, roleEnvironment, type SupervisedRoleConfig } from './role-config.js';

const environment = {
  RETRACE_LOG_DIRECTORY: 'data/log',
  RETRACE_STORE_URL: 'http://127.0.0.1:8123',
  RETRACE_STORE_USER: 'retrace',
  RETRACE_STORE_PASSWORD: 'a secret',
  RETRACE_CHECKPOINT_DIRECTORY: 'data/checkpoints',
  RETRACE_TOKENIZER_DIRECTORY: 'data/tokenizers',
};

describe('readRoleConfig', () => {
  it('reads what roleEnvironment writes', () => {
    const config = readRoleConfig({ ...environment, RETRACE_BACKEND: 'wasm' });
    expect(config).toMatchObject({ log: { kind: 'lmdb', path: 'data/log' }, backend: 'wasm' });
    expect(readRoleConfig(roleEnvironment(config as SupervisedRoleConfig))).toEqual(config);
  });

  it('names every variable that is missing or bad', () => {
    const bad = {
      ...environment,
      RETRACE_LOG_DIRECTORY: '',
      RETRACE_STORE_URL: 'nowhere',
      RETRACE_BACKEND: 'abacus',
    };
    expect(() => readRoleConfig(bad)).toThrow(
      /RETRACE_LOG_DIRECTORY.*RETRACE_STORE_URL: got "nowhere".*RETRACE_BACKEND/s,
    );
  });

  it('never prints a password', () => {
    expect(() => readRoleConfig({ RETRACE_STORE_PASSWORD: 'a secret' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('a secret') as string }) as Error,
    );
  });
});
