import { createTokenizer, plainPolicyText, saveHuggingFaceModel, Transformer } from '@retrace/policy';

/**
 * Writes a model of random weights and one layer, whose tokens are bytes, as a Hugging Face directory. The backend must be open.
 *
 * @param head with next to no weights all tokens are equally likely, whatever adapters learn
 */
export async function writeByteModel(
  directory: string,
  head: { readonly lmHeadInitializerStd?: number } = {},
): Promise<void> {
  const sizes = { hiddenSize: 32, numLayers: 1, numHeads: 4, numKeyValueHeads: 2, headDim: 8 };
  const tokenizer = createTokenizer('byte', []);
  const model = Transformer.initialize(
    {
      ...{
        ...sizes,
        vocabSize: tokenizer.vocabSize,
        intermediateSize: 48,
        ropeTheta: 1e4,
        rmsNormEps: 1e-6,
      },
      ...head,
      ...{ tieWordEmbeddings: false, attentionBias: true, maxPositions: 512, valueHead: false },
    },
    1,
  );
  await saveHuggingFaceModel(directory, model, { text: plainPolicyText(tokenizer) });
  model.dispose();
}
