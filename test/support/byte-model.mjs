import { createTokenizer, plainPolicyText, saveHuggingFaceModel, Transformer } from '@retrace/policy';

/**
 * Writes a model of random weights and one layer, whose tokens are bytes, as a Hugging Face directory. The backend must be open.
 *
 * @param {string} directory
 * @param {{ readonly lmHeadInitializerStd?: number, readonly maxPositions?: number }} [sizes] with next to no weights in the head all tokens are
 *   equally likely, whatever adapters learn
 */
export async function writeByteModel(directory, sizes = {}) {
  const tokenizer = createTokenizer('byte', []);
  const model = Transformer.initialize(
    {
      ...{ vocabSize: tokenizer.vocabSize, hiddenSize: 32, numLayers: 1, numHeads: 4, numKeyValueHeads: 2 },
      ...{ headDim: 8, intermediateSize: 48, ropeTheta: 1e4, rmsNormEps: 1e-6, tieWordEmbeddings: false },
      ...{ attentionBias: true, maxPositions: 512, valueHead: false, ...sizes },
    },
    1,
  );
  await saveHuggingFaceModel(directory, model, { text: plainPolicyText(tokenizer) });
  model.dispose();
}
