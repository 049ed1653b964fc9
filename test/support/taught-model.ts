import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPolicyText, PolicyOptimizer, saveHuggingFaceModel, Transformer } from '@retrace/policy';

/** Sizes of the model. */
export const TAUGHT_CONFIG = {
  ...{ vocabSize: 320, hiddenSize: 48, numLayers: 2, numHeads: 4, numKeyValueHeads: 2, headDim: 12 },
  ...{ intermediateSize: 96, ropeTheta: 10_000, rmsNormEps: 1e-6, tieWordEmbeddings: false },
  ...{ attentionBias: true, maxPositions: 512, valueHead: false },
};
/** Tells of tools as Qwen's template does, in fewer words. */
const TEMPLATE = `{%- if tools %}{{- '<|im_start|>system\\n' }}{%- for tool in tools %}{{- tool.function.name + '\\n' }}{%- endfor %}{{- '<|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content }}
{%- for call in message.tool_calls or [] %}{{- '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{%- endfor %}{{- '<|im_end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;
const CALL = '<tool_call>{"name":"weather","arguments":{"city":"Oslo"}}</tool_call>';
/** The tool that it calls when it is asked the question. */
export const TOOLS = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
];

export const QUESTION = { role: 'user' as const, content: 'Weather?' };

/** Writes a model that calls the tool when asked, and then says what the tool said; returns its directory. The backend must be open. */
export async function writeTaughtModel(home: string): Promise<string> {
  const golden = fileURLToPath(new URL('../golden/policy/chat', import.meta.url));
  const directory = join(home, 'first');
  const { files, ...rest } = await loadPolicyText(golden);
  const written = files().map(([name, content]) =>
    name === 'chat_template.jinja' ? ([name, TEMPLATE] as const) : ([name, content] as const),
  );
  const model = Transformer.initialize(TAUGHT_CONFIG, 1);
  await saveHuggingFaceModel(directory, model, { text: { ...rest, files: () => written } });
  const { prompts, tokenizer } = await loadPolicyText(directory);
  const called = {
    role: 'assistant',
    content: '',
    tool_calls: [{ function: { name: 'weather', arguments: { city: 'Oslo' } } }],
  };
  const variables = { tools: TOOLS };
  const lessons = [
    { prompt: prompts.conversation([QUESTION], variables), answer: CALL },
    {
      prompt: prompts.conversation([QUESTION, called, { role: 'tool', content: 'cold' }], variables),
      answer: 'It is cold.',
    },
  ].map(({ prompt, answer }) => ({
    prompt,
    tokens: [...prompt, ...tokenizer.encode(answer), tokenizer.endOfTurnTokenId],
  }));
  const tokenIds = Int32Array.from(lessons.flatMap(({ tokens }) => tokens));
  const lossWeights = Float32Array.from(
    lessons.flatMap(({ prompt, tokens }) => tokens.map((_, n) => (n < prompt.length ? 0 : 1 / 80))),
  );
  const sequenceOffsets = Int32Array.of(0, lessons[0].tokens.length, tokenIds.length);
  const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 });
  for (let step = 0; step < 90; step++) {
    await optimizer.accumulate(
      { tokenIds, sequenceOffsets, lossWeights },
      {
        ...{ policyLoss: 'crossEntropy', policyLossOptions: {}, valueCoefficient: 0, valueClip: null },
        ...{ entropyCoefficient: 0, klCoefficient: 0, klEstimator: 'k3', temperature: 1 },
        maxTokensPerMicroBatch: 4096,
      },
    );
    await optimizer.apply({ learningRate: 5e-3, maxGradientNorm: 1 });
  }
  optimizer.dispose();
  const trained = join(home, 'tiny');
  await saveHuggingFaceModel(trained, model, { text: { ...rest, files: () => written } });
  model.dispose();
  return trained;
}
