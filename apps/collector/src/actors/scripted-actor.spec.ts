import { openBackend } from '@retrace/compute';
import { getEnvironment, type ScriptedAgent } from '@retrace/environments';
import {
  buildWordTokenizer,
  Generator,
  plainPolicyText,
  PolicyOptimizer,
  Transformer,
  type LossOptions,
  type TransformerConfig,
} from '@retrace/policy';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ActRequest, FinishedAct } from '../turn/actor.js';
import { PolicyActor } from './policy-actor.js';
import { ScriptedActor } from './scripted-actor.js';

const text = plainPolicyText(buildWordTokenizer(['north', 'go', 'look', 'wait', 'far']));
const encode = (said: string): number[] => [...text.tokenizer.encode(said)];
const END = text.tokenizer.endOfTurnTokenId;
const saying = (action: string): ScriptedAgent => ({ name: 'expert', act: () => action });

const observation = { text: 'look', anchor: null, legalActions: null };
const REQUEST: ActRequest = {
  slot: 0,
  environment: getEnvironment('frozen-lake').create(),
  observation,
  prompt: { observation, tokenIds: text.prompts.opening('look'), keptPrefixTokens: 0 },
  messages: [{ role: 'user', content: 'look' }],
  purpose: null,
  samplingSeed: 3,
  greedy: true,
};

async function turnOf(action: string, maxNewTokens: number) {
  const actor = new ScriptedActor(saying(action), text, maxNewTokens);
  actor.request(REQUEST);
  return acted((await actor.step())[0]);
}

function acted(act: FinishedAct) {
  if ('turn' in act) return act.turn;
  throw new Error(act.failure.reason);
}

describe('ScriptedActor', () => {
  it.each([
    ['go north', 4, [...encode('go north'), END]],
    ['go', 4, [...encode('go'), END]],
    ['go far north', 3, encode('go far north')],
    ['go', 1, encode('go')],
    ['go north', 1, encode('go north')],
  ])('says %j of at most %i tokens as a policy would, with the token that ends it', async (...[said, most, ids]) => {
    const turn = await turnOf(said, most);
    expect(turn.action).toBe(said);
    expect([...turn.tokenIds]).toEqual(ids);
    expect([...turn.logprobs]).toEqual(ids.map(() => Number.NaN));
    expect([...turn.policyVersions]).toEqual(ids.map(() => -1));
  }); // oxfmt-ignore
});

const config: TransformerConfig = {
  vocabSize: text.tokenizer.vocabSize,
  hiddenSize: 16,
  numLayers: 1,
  numHeads: 2,
  numKeyValueHeads: 1,
  headDim: 8,
  intermediateSize: 16,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: false,
  maxPositions: 32,
  valueHead: false,
};
const IMITATION: LossOptions = {
  policyLoss: 'crossEntropy',
  policyLossOptions: {},
  valueCoefficient: 0,
  valueClip: null,
  entropyCoefficient: 0,
  klCoefficient: 0,
  klEstimator: 'k3',
  temperature: 1,
  maxTokensPerMicroBatch: 64,
};

/** Trains every token of the expert's turn after the prompt. */
async function imitate(model: Transformer, actionIds: Int32Array): Promise<void> {
  const { tokenIds: promptIds } = REQUEST.prompt;
  const tokenIds = Int32Array.of(...promptIds, ...actionIds);
  const lossWeights = new Float32Array(tokenIds.length).fill(1 / actionIds.length, promptIds.length);
  const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 });
  const batch = { tokenIds, sequenceOffsets: Int32Array.of(0, tokenIds.length), lossWeights };
  for (let step = 0; step < 60; step++) {
    await optimizer.accumulate(batch, IMITATION);
    await optimizer.apply({ learningRate: 0.02, maxGradientNorm: 1 });
  }
  optimizer.dispose();
}

describe('imitation of a scripted agent', () => {
  beforeAll(() => openBackend({ prefer: ['cpu'] }));

  it('teaches a policy to end an action of two words itself', async () => {
    const model = Transformer.initialize(config, 4);
    await imitate(model, (await turnOf('go north', 8)).tokenIds);
    const generator = new Generator(model, { maxSlots: 1, maxTokens: 32, maxNewTokens: 8 });
    const sampling = { temperature: 1, topK: 0, topP: 1, greedy: true, maxNewTokens: 8 };
    const actor = new PolicyActor({ generator, text, maxTokens: 32, sampling });
    actor.request(REQUEST);
    const finished = [];
    while (finished.length === 0) finished.push(...(await actor.step()));
    expect(finished[0].turn.action).toBe('go north');
    expect([...finished[0].turn.tokenIds]).toEqual([...encode('go north'), END]);
    generator.dispose();
    model.dispose();
  });
});
