import { join } from 'node:path';
import { readParameter, requireParameters } from '../checkpoints/tensor-source.js';
import { initialTensors } from '../model/initialization.js';
import { joinParameter } from '../model/join-parameter.js';
import type { NamedTensors } from '../model/named-tensors.js';
import { baseSpecs, CRITIC_PREFIX, parameterSpecs } from '../model/parameter-layout.js';
import { ParameterSet } from '../model/parameter-set.js';
import type { ParameterSpec } from '../model/parameter-spec.js';
import { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';
import { readAdapter } from './adapter-files.js';
import { parseHuggingFaceConfig } from './model-config.js';
import type { HuggingFaceModelOptions } from './model-config.js';
import { readOptionalJson } from './read-json.js';
import { WeightFiles } from './weight-files.js';

export interface LoadModelOptions extends Omit<HuggingFaceModelOptions, 'lora'> {
  /** What the model has beyond its files (value head, new adapters) starts from this seed. */
  readonly seed: number;
  /** New adapters of that shape. */
  readonly lora?: HuggingFaceModelOptions['lora'];
  /** A directory in peft's format whose adapters are put on the model, instead of new ones. */
  readonly adapterDirectory?: string;
}

/**
 * A model from a Hugging Face directory: `config.json`, and `model.safetensors` or its shards. Tensors are read one after
 * the other in pieces, so that the peak is the model in float32 and little more. A critic with a trunk of its own starts
 * from the policy's.
 *
 *
 * @throws PolicyError that names file, tensor, what was found and what must be; all files are checked before the first weight is read, and nothing of the model stays in memory
 */
export async function loadHuggingFaceModel(
  directory: string,
  { seed, adapterDirectory, ...options }: LoadModelOptions,
): Promise<Transformer> {
  const configPath = join(directory, 'config.json');
  const json = await readOptionalJson(configPath);
  if (json === null) throw new PolicyError('FILE_MISSING', `${configPath} is not there`);
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
  try {
    requireParameters(files, specs.filter(isInFiles), fileName);
    const parameters = await ParameterSet.load(specs, (spec) =>
      isInFiles(spec) ? readParameter(files, spec, fileName) : joinParameter(spec, beside),
    );
    return new Transformer(config, parameters);
  } finally {
    await files.close();
  }
}

/** A critic's own trunk starts from the policy's tensors. */
function fileName(name: string): string {
  return name.startsWith(CRITIC_PREFIX) ? name.slice(CRITIC_PREFIX.length) : name;
}
