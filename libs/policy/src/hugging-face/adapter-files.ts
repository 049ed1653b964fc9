import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeSafetensors, decodeSafetensors } from '../checkpoints/safetensors.js';
import { firstNotFinite } from '../checkpoints/element-types.js';
import { adapterSpecs } from '../model/adapter-layout.js';
import { LORA_TARGETS, validateLoraConfig } from '../model/lora-config.js';
import type { LoraConfig, LoraTarget } from '../model/lora-config.js';
import type { NamedTensors } from '../model/named-tensors.js';
import { baseSpecs } from '../model/parameter-layout.js';
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
 * An adapter in peft's format: `adapter_config.json` and `adapter_model.safetensors`.
 *
 * @throws PolicyError `FILE_MISSING`, `INVALID_FILE`, `NOT_FINITE`, and `UNSUPPORTED_MODEL` when it is no plain LoRA on the projections of every layer
 */
export async function readAdapter(directory: string): Promise<Adapter> {
  const lora = readLoraConfig(await readJsonObject(join(directory, CONFIG_FILE)));
  const path = join(directory, WEIGHTS_FILE);
  const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new PolicyError('FILE_MISSING', `${path} is not there`, { cause });
  });
  const { tensors } = decodeSafetensors(bytes, path);
  for (const [name, { data }] of tensors) {
    const bad = firstNotFinite(data);
    if (bad >= 0) {
      throw new PolicyError(
        'NOT_FINITE',
        `${path}: tensor ${name} has ${data[bad]} at element ${bad}; weights must be finite`,
      );
    }
  }
  return { lora, tensors };
}

/**
 * Saves the adapters of a model as peft reads them; what a critic has for itself is left out.
 * Throws `PolicyError` (`INVALID_REQUEST`) when the model has none, or something is there already.
 *
 * @param baseModel where users of the adapter find the model it belongs to: a directory, or a name on a hub
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
  const tensors = await model.parameters.export(specs);
  await writeDirectory(directory, async (file) => {
    await file(CONFIG_FILE, JSON.stringify(writeLoraConfig(lora, baseModel), null, 2) + '\n');
    await file(WEIGHTS_FILE, encodeSafetensors(tensors, { format: 'pt' }));
  });
}

function readLoraConfig(json: ConfigJson): LoraConfig {
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
