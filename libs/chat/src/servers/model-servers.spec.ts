import { describe, expect, it } from 'vitest';
import {
  KIND_PATHS,
  kindByAnswers,
  kindByHost,
  knownDefaults,
  TOKEN_SERVER_KINDS,
  tokenServer,
} from './model-servers.js';

const VERSION = { version: '1' };
const MODEL = { model_path: '/models/m' };

describe('The kind of a model server', () => {
  it('is told by a field of one of its routes, with the answer that has it', () => {
    expect(KIND_PATHS).toEqual(expect.arrayContaining(['/version', '/get_model_info']));
    expect(kindByAnswers(new Map([['/version', VERSION]]))).toEqual({ kind: 'vllm', sign: VERSION });
    const both = new Map<string, object>([
      ['/version', VERSION],
      ['/get_model_info', MODEL],
    ]);
    expect(kindByAnswers(both)).toEqual({ kind: 'sglang', sign: MODEL });
    expect(kindByAnswers(new Map([['/version', { detail: 'no' }]]))).toEqual({ kind: 'other', sign: null });
  });

  it('is told by its host, where only one is there', () => {
    expect(['api.openai.com', 'api.anthropic.com', 'localhost'].map(kindByHost)).toEqual([
      'openai',
      'anthropic',
      null,
    ]);
  });

  it('that gives tokens takes its sampling from its model, and says of which distribution its log-probabilities are', () => {
    for (const kind of TOKEN_SERVER_KINDS) expect(knownDefaults(kind)).toEqual({});
    expect([tokenServer('vllm').logprobMode, tokenServer('sglang').logprobMode]).toEqual([
      'raw',
      'processed',
    ]);
    expect(knownDefaults('other')).toEqual({ top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 });
  });
});
