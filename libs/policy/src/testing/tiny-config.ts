import type { TransformerConfig } from '../model/transformer-config.js';

/** A model with every part, small enough for plain JavaScript. */
export const TINY_CONFIG: TransformerConfig = {
  vocabSize: 19,
  hiddenSize: 16,
  numLayers: 2,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 6,
  intermediateSize: 24,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: true,
  maxPositions: 64,
  valueHead: true,
};
