import { join } from 'node:path';
import { readParameter, requireParameters } from '../checkpoints/tensor-source.js';
import { initialTensors } from '../model/initialization.js';
import { joinParameter } from '../parameters/join-parameter.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { baseSpecs, CRITIC_PREFIX, parameterSpecs } from '../model/parameter-layout.js';
import { ParameterSet } from '../model/parameter-set.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';
import { Transformer } from '../model/transformer.js';
import { readAdapter } from './adapter-files.js';
import { parseHuggingFaceConfig } from './model-config.js';
import type { HuggingFaceModelOptions } from './model-config.js';
import { readJsonObject } from './read-json.js';
import { WeightFiles } from './weight-files.js';

export interface LoadModelOptions extends Omit<HuggingFaceModelOptions, 'lora'> {
  /** Seed of the initial weights that the files lack: value head and new adapters. */
  readonly seed: number;
  /** Shape of new adapters. */
  readonly lora?: HuggingFaceModelOptions['lora'];
  /** Directory in peft's format, whose adapters are used instead of new ones. */
  readonly adapterDirectory?: string;
  /** Directory of a model of the same architecture, whose weights a critic's own trunk starts from (default: the policy's). */
  readonly criticDirectory?: string;
}

/**
 * Loads a model from a Hugging Face directory: `config.json`, and `model.safetensors` or its shards. Tensors are read in
 * pieces, one after the other, so the peak of memory is the model in float32 and little more. A critic with its own trunk
 * starts from the policy's, or from those of `criticDirectory`.
 *
 * @throws PolicyError with file, tensor, what was found and what is required; all files are checked before the first weight is read, and the model's memory is freed
 */
export async function loadHuggingFaceModel(
  directory: string,
  { seed, adapterDirectory, criticDirectory, ...options }: LoadModelOptions,
): Promise<Transformer> {
  const configPath = join(directory, 'config.json');
  const json = (await readJsonObject(configPath)).toJSON();
  const adapter = adapterDirectory === undefined ? null : await readAdapter(adapterDirectory);
  const lora = adapter?.lora ?? options.lora;
  const config = parseHuggingFaceConfig(json, { ...options, ...(lora ? { lora } : {}) }, configPath);
  const specs = parameterSpecs(config);
  const inFiles = new Set(baseSpecs(config).flatMap(({ parts }) => parts.map(({ name }) => name)));
  const isInFiles = (spec: ParameterSpec) => spec.parts.every(({ name }) => inFiles.has(fileName(name)));
  const rest = specs.filter((spec) => !isInFiles(spec));
  const beside: NamedTensors = new Map([...initialTensors(config, seed, rest), ...(adapter?.tensors ?? [])]);
  rest.forEach((spec) => joinParameter(spec, beside));

  const files = await WeightFiles.open(directory);
  const criticFiles = criticDirectory === undefined ? files : await openBeside(files, criticDirectory);
  const filesOf = ({ key }: ParameterSpec) => (key.startsWith(CRITIC_PREFIX) ? criticFiles : files);
  try {
    for (const spec of specs.filter(isInFiles)) requireParameters(filesOf(spec), [spec], fileName);
    const parameters = await ParameterSet.load(specs, (spec) =>
      isInFiles(spec) ? readParameter(filesOf(spec), spec, fileName) : joinParameter(spec, beside),
    );
    return new Transformer(config, parameters);
  } finally {
    await files.close();
    if (criticFiles !== files) await criticFiles.close();
  }
}

/** Opens a second directory; if that fails, the files of the first are closed. */
async function openBeside(files: WeightFiles, directory: string): Promise<WeightFiles> {
  try {
    return await WeightFiles.open(directory);
  } catch (error) {
    await files.close();
    throw error;
  }
}

/** The name in the files of a part; a critic's own trunk starts from the policy's tensors. */
function fileName(name: string): string {
  return name.startsWith(CRITIC_PREFIX) ? name.slice(CRITIC_PREFIX.length) : name;
}
