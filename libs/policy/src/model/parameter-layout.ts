import { PolicyError } from '../policy-error.js';
import type { NamedTensor, NamedTensors } from './named-tensors.js';
import type { TransformerConfig } from './transformer-config.js';

/**
 * One device parameter. Projections that read the same input are stored as one matrix, so that they take one
 * product: its rows are those of its parts, one after the other. Matrices are [out, in], as Hugging Face has them.
 */
export interface ParameterSpec {
  readonly key: string;
  readonly shape: readonly number[];
  readonly parts: readonly ParameterPart[];
}

/** A Hugging Face parameter inside a device parameter: `numRows` rows (or elements of a vector). */
export interface ParameterPart {
  readonly name: string;
  readonly numRows: number;
  readonly role: ParameterRole;
  /**
   * Set for queries and keys: Hugging Face turns row i of a head with row i + headDim/2; on the device the two are
   * neighbours.
   */
  readonly pairedHeadDim?: number;
}

/** What decides how a parameter is initialised and whether weight decay applies to it. */
export type ParameterRole =
  'embedding' | 'projection' | 'residualProjection' | 'lmHead' | 'valueHead' | 'bias' | 'norm';

/** Keys of the device parameters of one layer. */
export function layerKeys(layer: number) {
  const key = (name: string) => `layers.${layer}.${name}`;
  return {
    inputNorm: key('inputNorm'),
    qkvWeight: key('qkvWeight'),
    qkvBias: key('qkvBias'),
    outputWeight: key('outputWeight'),
    feedForwardNorm: key('feedForwardNorm'),
    gateUpWeight: key('gateUpWeight'),
    downWeight: key('downWeight'),
  };
}

export const embeddingKey = 'embedding';
export const finalNormKey = 'finalNorm';
export const lmHeadKey = 'lmHead';
export const valueHeadKey = 'valueHead';

/** All parameters of a model, in a fixed order. */
export function parameterSpecs(config: TransformerConfig): ParameterSpec[] {
  const { vocabSize, hiddenSize, numLayers } = config;
  const specs = [
    matrix(embeddingKey, hiddenSize, [
      { name: 'model.embed_tokens.weight', numRows: vocabSize, role: 'embedding' },
    ]),
  ];
  for (let layer = 0; layer < numLayers; layer++) specs.push(...layerSpecs(config, layer));
  specs.push(norm(finalNormKey, 'model.norm.weight', hiddenSize));
  if (!config.tieWordEmbeddings) {
    specs.push(
      matrix(lmHeadKey, hiddenSize, [{ name: 'lm_head.weight', numRows: vocabSize, role: 'lmHead' }]),
    );
  }
  if (config.valueHead) {
    specs.push(
      matrix(valueHeadKey, hiddenSize, [{ name: 'value_head.weight', numRows: 1, role: 'valueHead' }]),
    );
  }
  return specs;
}

function layerSpecs(config: TransformerConfig, layer: number): ParameterSpec[] {
  const { hiddenSize, headDim, intermediateSize } = config;
  const queryWidth = config.numHeads * headDim;
  const keyValueWidth = config.numKeyValueHeads * headDim;
  const keys = layerKeys(layer);
  const prefix = `model.layers.${layer}`;
  const qkv = (suffix: 'weight' | 'bias', role: ParameterRole): ParameterPart[] => [
    { name: `${prefix}.self_attn.q_proj.${suffix}`, numRows: queryWidth, role, pairedHeadDim: headDim },
    { name: `${prefix}.self_attn.k_proj.${suffix}`, numRows: keyValueWidth, role, pairedHeadDim: headDim },
    { name: `${prefix}.self_attn.v_proj.${suffix}`, numRows: keyValueWidth, role },
  ];
  return [
    norm(keys.inputNorm, `${prefix}.input_layernorm.weight`, hiddenSize),
    matrix(keys.qkvWeight, hiddenSize, qkv('weight', 'projection')),
    ...(config.attentionBias ? [vector(keys.qkvBias, qkv('bias', 'bias'))] : []),
    matrix(keys.outputWeight, queryWidth, [
      { name: `${prefix}.self_attn.o_proj.weight`, numRows: hiddenSize, role: 'residualProjection' },
    ]),
    norm(keys.feedForwardNorm, `${prefix}.post_attention_layernorm.weight`, hiddenSize),
    matrix(keys.gateUpWeight, hiddenSize, [
      { name: `${prefix}.mlp.gate_proj.weight`, numRows: intermediateSize, role: 'projection' },
      { name: `${prefix}.mlp.up_proj.weight`, numRows: intermediateSize, role: 'projection' },
    ]),
    matrix(keys.downWeight, intermediateSize, [
      { name: `${prefix}.mlp.down_proj.weight`, numRows: hiddenSize, role: 'residualProjection' },
    ]),
  ];
}

function matrix(key: string, numColumns: number, parts: readonly ParameterPart[]): ParameterSpec {
  return { key, shape: [sumRows(parts), numColumns], parts };
}

function vector(key: string, parts: readonly ParameterPart[]): ParameterSpec {
  return { key, shape: [sumRows(parts)], parts };
}

function norm(key: string, name: string, size: number): ParameterSpec {
  return vector(key, [{ name, numRows: size, role: 'norm' }]);
}

function sumRows(parts: readonly ParameterPart[]): number {
  return parts.reduce((sum, part) => sum + part.numRows, 0);
}

export function numElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** The shape a part has on its own. */
export function partShape(spec: ParameterSpec, part: ParameterPart): number[] {
  return [part.numRows, ...spec.shape.slice(1)];
}

/** Cuts the values of one device parameter into its named parts. */
export function splitParameter(spec: ParameterSpec, data: Float32Array): [string, NamedTensor][] {
  let offset = 0;
  return spec.parts.map((part) => {
    const shape = partShape(spec, part);
    const size = numElements(shape);
    const rows = data.subarray(offset, offset + size);
    offset += size;
    return [part.name, { shape, data: reorderRows(rows, part, 'split') }];
  });
}

/**
 * Joins named tensors into the values of one device parameter.
 * Throws `PolicyError` (`TENSOR_MISMATCH`) when a part is missing or has another shape.
 */
export function joinParameter(spec: ParameterSpec, tensors: NamedTensors): Float32Array {
  const data = new Float32Array(numElements(spec.shape));
  let offset = 0;
  for (const part of spec.parts) {
    const shape = partShape(spec, part);
    const tensor = tensors.get(part.name);
    if (tensor === undefined) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `tensor ${part.name} is missing; the model needs it as [${shape.join(', ')}]`,
      );
    }
    if (tensor.shape.join() !== shape.join() || tensor.data.length !== numElements(shape)) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `tensor ${part.name} has shape [${tensor.shape.join(', ')}]; the model needs [${shape.join(', ')}]`,
      );
    }
    data.set(reorderRows(tensor.data, part, 'join'), offset);
    offset += tensor.data.length;
  }
  return data;
}

/** Between the order of rows in a Hugging Face file and that on the device. */
function reorderRows(data: Float32Array, part: ParameterPart, direction: 'split' | 'join'): Float32Array {
  const { numRows, pairedHeadDim } = part;
  if (pairedHeadDim === undefined) return data;
  const rowSize = data.length / numRows;
  const half = pairedHeadDim / 2;
  const reordered = new Float32Array(data.length);
  for (let row = 0; row < numRows; row++) {
    const inHead = row % pairedHeadDim;
    const paired = row - inHead + (inHead < half ? 2 * inHead : 2 * (inHead - half) + 1);
    const [from, to] = direction === 'join' ? [row, paired] : [paired, row];
    reordered.set(data.subarray(from * rowSize, (from + 1) * rowSize), to * rowSize);
  }
  return reordered;
}
