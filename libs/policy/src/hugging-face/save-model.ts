import { join } from 'node:path';
import { ELEMENT_BYTES } from '../checkpoints/element-types.js';
import { baseSpecs } from '../model/parameter-layout.js';
import { numElements } from '../parameters/parameter-spec.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';
import type { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';
import { writeHuggingFaceConfig } from './model-config.js';
import type { PolicyText } from './policy-text.js';
import { readJsonObject } from './read-json.js';
import { writeDirectory } from './write-directory.js';

export interface SaveModelOptions {
  /** Default float32, which keeps every bit. */
  readonly dtype?: 'float32' | 'bfloat16';
  /** Most bytes of tensors in one file (default 5 GB, as transformers has it). */
  readonly maxShardBytes?: number;
  /** Tokenizer, chat template and the ids that end a turn. */
  readonly text?: PolicyText;
  /** The directory that the model was loaded from: its longest context is written, even if the model has a shorter one. */
  readonly baseDirectory?: string;
}

interface Shard {
  readonly specs: ParameterSpec[];
  bytes: number;
}

/**
 * Saves a model as a directory that transformers loads. A value head, a critic's trunk and adapters are not part of it
 * (`Transformer.merge` adds adapters to the weights, `saveAdapter` keeps them).
 *
 * @throws PolicyError `INVALID_REQUEST` for a model with adapters or a directory that has files, `UNSUPPORTED_MODEL` when no model family has this block, `CHECKPOINT_NOT_WRITTEN` when the disk refuses
 */
export async function saveHuggingFaceModel(
  directory: string,
  model: Transformer,
  { dtype = 'float32', maxShardBytes = 5e9, text, baseDirectory }: SaveModelOptions = {},
): Promise<void> {
  const { config } = model;
  const base = baseDirectory === undefined ? null : await readJsonObject(join(baseDirectory, 'config.json'));
  const maxPositions = base?.number('max_position_embeddings') ?? config.maxPositions;
  if (config.lora !== undefined) {
    throw new PolicyError('INVALID_REQUEST', 'the model has adapters; merge it first, or save the adapter');
  }
  const type = dtype === 'bfloat16' ? 'BF16' : 'F32';
  const shards = planShards(baseSpecs(config), { type, maxShardBytes });
  const nameOf = (index: number) =>
    shards.length === 1
      ? 'model.safetensors'
      : `model-${pad(index + 1)}-of-${pad(shards.length)}.safetensors`;
  await writeDirectory(directory, async (file) => {
    for (const [index, { specs }] of shards.entries()) {
      await file(nameOf(index), model.parameters.encode(specs, { type, metadata: { format: 'pt' } }));
    }
    if (shards.length > 1) {
      await file('model.safetensors.index.json', toJson(makeIndex(shards, nameOf)));
    }
    const written = writeHuggingFaceConfig({ ...config, maxPositions }, dtype);
    const endIds = text === undefined ? {} : { eos_token_id: text.stopTokenIds[0] };
    await file('config.json', toJson({ ...written, ...endIds }));
    for (const [name, content] of text?.files() ?? []) await file(name, content);
  });
}

function planShards(
  specs: readonly ParameterSpec[],
  { type, maxShardBytes }: { readonly type: 'F32' | 'BF16'; readonly maxShardBytes: number },
): Shard[] {
  const shards: Shard[] = [];
  for (const spec of specs) {
    const bytes = numElements(spec.shape) * ELEMENT_BYTES[type];
    const last = shards.at(-1);
    if (last === undefined || last.bytes + bytes > maxShardBytes) shards.push({ specs: [spec], bytes });
    else {
      last.specs.push(spec);
      last.bytes += bytes;
    }
  }
  return shards;
}

function makeIndex(shards: readonly Shard[], nameOf: (index: number) => string): unknown {
  const weightMap = shards.flatMap(({ specs }, index) =>
    specs.flatMap(({ parts }) => parts.map(({ name }): [string, string] => [name, nameOf(index)])),
  );
  return {
    metadata: { total_size: shards.reduce((sum, { bytes }) => sum + bytes, 0) },
    weight_map: Object.fromEntries(weightMap),
  };
}

function pad(shard: number): string {
  return String(shard).padStart(5, '0');
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2) + '\n';
}
