import { join } from 'node:path';
import { SafetensorsFile } from '../checkpoints/safetensors-file.js';
import { requireFiniteWeights } from '../checkpoints/tensor-source.js';
import { adapterSpecs } from '../model/adapter-layout.js';
import { LORA_TARGETS, validateLoraConfig } from '../model/lora-config.js';
import type { LoraConfig, LoraTarget } from '../model/lora-config.js';
import type { NamedTensor, NamedTensors } from '../parameters/named-tensors.js';
import { baseSpecs } from '../model/parameter-layout.js';
import { numElements } from '../parameters/parameter-spec.js';
import type { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';
import type { ConfigJson } from './config-json.js';
import { readJsonObject } from './read-json.js';
import { writeDirectory } from './write-directory.js';

const CONFIG_FILE = 'adapter_config.json';
const WEIGHTS_FILE = 'adapter_model.safetensors';

export interface Adapter {
  readonly lora: LoraConfig;
  readonly tensors: NamedTensors;
}

/**
 * Reads an adapter in peft's format: `adapter_config.json` and `adapter_model.safetensors`.
 *
 * @throws PolicyError `FILE_MISSING`, `INVALID_FILE`, `NOT_FINITE`, and `UNSUPPORTED_MODEL` unless it is plain LoRA on the projections of every layer
 */
export async function readAdapter(directory: string): Promise<Adapter> {
  const lora = await readLoraConfig(directory);
  const path = join(directory, WEIGHTS_FILE);
  const tensors = new Map<string, NamedTensor>();
  const file = await SafetensorsFile.open(path);
  try {
    for (const [name, { shape }] of file.header.entries) {
      const data = new Float32Array(numElements(shape));
      await file.read(name, data);
      requireFiniteWeights(data, name, path);
      tensors.set(name, { shape, data });
    }
  } finally {
    await file.close();
  }
  return { lora, tensors };
}

/**
 * Saves the adapters of a model in peft's format, without the adapters of a critic.
 *
 * @param baseModel the base model as peft will look for it: a directory, or a name on a hub
 * @throws PolicyError `INVALID_REQUEST` when the model has no adapters or the directory has files, `CHECKPOINT_NOT_WRITTEN` when the disk refuses
 */
export async function saveAdapter(
  directory: string,
  model: Transformer,
  { baseModel }: { readonly baseModel: string },
): Promise<void> {
  const { lora } = model.config;
  if (lora === undefined) throw new PolicyError('INVALID_REQUEST', 'the model has no adapters to save');
  const names = new Set(adapterSpecs(lora, baseSpecs(model.config)).map(({ key }) => key));
  const specs = model.trainableSpecs.filter(({ key }) => names.has(key));
  await writeDirectory(directory, async (file) => {
    await file(CONFIG_FILE, JSON.stringify(writeLoraConfig(lora, baseModel), null, 2) + '\n');
    await file(WEIGHTS_FILE, model.parameters.encode(specs, { metadata: { format: 'pt' } }));
  });
}

/**
 * Reads only the shape of an adapter in peft's format.
 *
 * @throws PolicyError as `readAdapter`
 */
export async function readLoraConfig(directory: string): Promise<LoraConfig> {
  return parseLoraConfig(await readJsonObject(join(directory, CONFIG_FILE)));
}

function parseLoraConfig(json: ConfigJson): LoraConfig {
  json.requireAbsentOr('peft_type', 'LORA');
  for (const field of ['use_dora', 'use_rslora', 'lora_bias', 'fan_in_fan_out', 'use_qalora']) {
    json.requireAbsentOr(field, false);
  }
  json.requireAbsentOr('bias', 'none');
  for (const field of ['modules_to_save', 'layers_to_transform', 'layer_replication', 'target_parameters']) {
    json.requireAbsentOr(field, null);
  }
  for (const field of ['rank_pattern', 'alpha_pattern']) {
    if (Object.keys((json.get(field) ?? {}) as object).length > 0) json.refuse(field, 'must be empty');
  }
  const known: readonly string[] = LORA_TARGETS;
  const targets = json.strings('target_modules');
  if (targets.some((target) => !known.includes(target))) {
    json.refuse('target_modules', `must be among ${known.join(', ')}`);
  }
  const lora = {
    rank: json.number('r'),
    alpha: json.number('lora_alpha'),
    // In the order of the layer, whatever order a file has.
    targets: LORA_TARGETS.filter((target) => targets.includes(target)) as LoraTarget[],
  };
  validateLoraConfig(lora);
  return lora;
}

function writeLoraConfig({ rank, alpha, targets }: LoraConfig, baseModel: string): Record<string, unknown> {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    inference_mode: true,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    target_modules: targets,
    bias: 'none',
    fan_in_fan_out: false,
    init_lora_weights: true,
    modules_to_save: null,
  };
}
