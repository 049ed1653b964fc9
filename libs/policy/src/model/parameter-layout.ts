import { adapterSpecs } from './adapter-layout.js';
import { matrixSpec, vectorSpec } from '../parameters/parameter-spec.js';
import type { ParameterPart, ParameterRole, ParameterSpec } from '../parameters/parameter-spec.js';
import type { TransformerConfig } from './transformer-config.js';

/** Keys of the device parameters of one layer. */
export function layerKeys(layer: number) {
  const key = (name: string) => `layers.${layer}.${name}`;
  return {
    inputNorm: key('inputNorm'),
    qkvWeight: key('qkvWeight'),
    qkvBias: key('qkvBias'),
    queryNorm: key('queryNorm'),
    keyNorm: key('keyNorm'),
    outputWeight: key('outputWeight'),
    feedForwardNorm: key('feedForwardNorm'),
    gateUpWeight: key('gateUpWeight'),
    downWeight: key('downWeight'),
  };
}

export const EMBEDDING_KEY = 'embedding';
export const FINAL_NORM_KEY = 'finalNorm';
export const LM_HEAD_KEY = 'lmHead';
export const VALUE_HEAD_KEY = 'valueHead';

/** Precedes the keys and names of a critic's own parameters. */
export const CRITIC_PREFIX = 'critic.';

/** Whether a parameter is used only for values. */
export function isOfCritic(key: string): boolean {
  return key === VALUE_HEAD_KEY || key.startsWith(CRITIC_PREFIX);
}

/** Lists all parameters of a model, in a fixed order. */
export function parameterSpecs(config: TransformerConfig): ParameterSpec[] {
  const isFrozen = config.lora !== undefined;
  const base = baseSpecs(config).map((spec) => ({ ...spec, isFrozen }));
  const adapters = adapterSpecs(config.lora, base);
  const ownTrunk = config.valueTrunk !== 'own' ? [] : isFrozen ? adapters : trunkSpecs(config);
  return [
    ...base,
    ...(config.valueHead ? [valueHead(config)] : []),
    ...adapters,
    ...ownTrunk.map(criticSpec),
  ];
}

/** Lists the parameters of the language model itself, without adapters and critic. */
export function baseSpecs(config: TransformerConfig): ParameterSpec[] {
  const { vocabSize, hiddenSize } = config;
  const lmHead = matrixSpec(LM_HEAD_KEY, hiddenSize, [
    { name: 'lm_head.weight', numRows: vocabSize, role: 'lmHead' },
  ]);
  return [...trunkSpecs(config), ...(config.tieWordEmbeddings ? [] : [lmHead])];
}

function trunkSpecs(config: TransformerConfig): ParameterSpec[] {
  const { vocabSize, hiddenSize, numLayers } = config;
  return [
    matrixSpec(EMBEDDING_KEY, hiddenSize, [
      { name: 'model.embed_tokens.weight', numRows: vocabSize, role: 'embedding' },
    ]),
    ...Array.from({ length: numLayers }, (_, layer) => layerSpecs(config, layer)).flat(),
    norm(FINAL_NORM_KEY, 'model.norm.weight', hiddenSize),
  ];
}

function layerSpecs(config: TransformerConfig, layer: number): ParameterSpec[] {
  const { hiddenSize, headDim, intermediateSize } = config;
  const queryWidth = config.numHeads * headDim;
  const keyValueWidth = config.numKeyValueHeads * headDim;
  const keys = layerKeys(layer);
  const prefix = `model.layers.${layer}`;
  const attention = `${prefix}.self_attn`;
  const qkv = (suffix: 'weight' | 'bias', role: ParameterRole): ParameterPart[] => [
    { name: `${attention}.q_proj.${suffix}`, numRows: queryWidth, role, pairedHeadDim: headDim },
    { name: `${attention}.k_proj.${suffix}`, numRows: keyValueWidth, role, pairedHeadDim: headDim },
    { name: `${attention}.v_proj.${suffix}`, numRows: keyValueWidth, role },
  ];
  const headNorm = (key: string, name: string) =>
    vectorSpec(key, [{ name, numRows: headDim, role: 'norm', pairedHeadDim: headDim }]);
  return [
    norm(keys.inputNorm, `${prefix}.input_layernorm.weight`, hiddenSize),
    matrixSpec(keys.qkvWeight, hiddenSize, qkv('weight', 'projection')),
    ...(config.attentionBias ? [vectorSpec(keys.qkvBias, qkv('bias', 'bias'))] : []),
    ...(config.queryKeyNorm
      ? [
          headNorm(keys.queryNorm, `${attention}.q_norm.weight`),
          headNorm(keys.keyNorm, `${attention}.k_norm.weight`),
        ]
      : []),
    matrixSpec(keys.outputWeight, queryWidth, [
      { name: `${attention}.o_proj.weight`, numRows: hiddenSize, role: 'residualProjection' },
    ]),
    norm(keys.feedForwardNorm, `${prefix}.post_attention_layernorm.weight`, hiddenSize),
    matrixSpec(keys.gateUpWeight, hiddenSize, [
      { name: `${prefix}.mlp.gate_proj.weight`, numRows: intermediateSize, role: 'projection' },
      { name: `${prefix}.mlp.up_proj.weight`, numRows: intermediateSize, role: 'projection' },
    ]),
    matrixSpec(keys.downWeight, intermediateSize, [
      { name: `${prefix}.mlp.down_proj.weight`, numRows: hiddenSize, role: 'residualProjection' },
    ]),
  ];
}

function valueHead({ hiddenSize }: TransformerConfig): ParameterSpec {
  return matrixSpec(VALUE_HEAD_KEY, hiddenSize, [
    { name: 'value_head.weight', numRows: 1, role: 'valueHead' },
  ]);
}

function criticSpec(spec: ParameterSpec): ParameterSpec {
  return {
    ...spec,
    key: CRITIC_PREFIX + spec.key,
    parts: spec.parts.map((part) => ({ ...part, name: CRITIC_PREFIX + part.name })),
  };
}

function norm(key: string, name: string, size: number): ParameterSpec {
  return vectorSpec(key, [{ name, numRows: size, role: 'norm' }]);
}
