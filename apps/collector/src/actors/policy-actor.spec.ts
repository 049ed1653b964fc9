import {
  buildWordTokenizer,
  Generator,
  plainPolicyText,
  Transformer,
  type TransformerConfig,
} from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { getEnvironment } from '@retrace/environments';
import { beforeAll, describe, expect, it } from 'vitest';
import { PolicyActor } from './policy-actor.js';

const text = plainPolicyText(
  buildWordTokenizer(['go', 'left', 'right', 'up', 'down', 'stay', 'look', 'wait']),
);
const config: TransformerConfig = {
  vocabSize: text.tokenizer.vocabSize,
  hiddenSize: 8,
  numLayers: 1,
  numHeads: 2,
  numKeyValueHeads: 1,
  headDim: 4,
  intermediateSize: 8,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: false,
  maxPositions: 32,
  valueHead: false,
};

/** The turn that a seeded policy takes after one observation. */
async function actOnce(stopStrings?: readonly string[]) {
  const model = Transformer.initialize(config, 4);
  const decode = (tokenIds: Int32Array) => text.tokenizer.decode(tokenIds);
  const generator = new Generator(model, { maxSlots: 1, maxTokens: 32, maxNewTokens: 12, decode });
  const sampling = { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 12 };
  const actor = new PolicyActor({ generator, text, maxTokens: 32, sampling, stopStrings });
  const tokenIds = text.prompts.opening('look');
  const observation = { text: 'look', anchor: null, legalActions: null };
  actor.request({
    slot: 0,
    environment: getEnvironment('frozen-lake').create(),
    observation,
    prompt: { observation, tokenIds, keptPrefixTokens: 0 },
    messages: [{ role: 'user', content: 'look' }],
    purpose: null,
    samplingSeed: 3,
    greedy: false,
  });
  const finished = [];
  while (finished.length === 0) finished.push(...(await actor.step()));
  generator.dispose();
  model.dispose();
  return finished[0].turn;
}

describe('PolicyActor', () => {
  beforeAll(() => openBackend({ prefer: ['cpu'] }));

  it('acts by the text before a stop string, and keeps every token that was sampled', async () => {
    const free = await actOnce();
    const words = free.action.split(' ');
    expect(words.length).toBeGreaterThan(3);
    const turn = await actOnce(['no such text', `${words[1]} ${words[2]}`]);
    const end = free.action.indexOf(`${words[1]} ${words[2]}`);
    expect(turn.action).toBe(free.action.slice(0, end));
    const spoken = text.tokenizer.decode(turn.tokenIds);
    expect(free.action.startsWith(spoken)).toBe(true);
    expect(spoken.endsWith(`${words[1]} ${words[2]}`)).toBe(true);
  });
});
