import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@retrace/compute/tensorflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { openBackend } from '@retrace/compute';
import { decodeSafetensors, encodeSafetensors } from '../testing/safetensors.js';
import type { NamedTensor } from '../parameters/named-tensors.js';
import { Transformer } from '../model/transformer.js';
import { PolicyError } from '../policy-error.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { computeLogits, relativeDifference } from '../testing/logits-of.js';
import { onEachBackend, temporaryDirectory } from '@retrace/compute/testing';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import {
  goldenModelDirectory,
  GOLDEN_MODEL_NAMES,
  transformerGolden,
} from '../testing/transformer-golden.js';
import type { GoldenModelName } from '../testing/transformer-golden.js';
import { readAdapter, saveAdapter } from './adapter-files.js';
import { loadHuggingFaceModel } from './load-model.js';
import { saveHuggingFaceModel } from './save-model.js';

const { tolerances, models, sequences } = transformerGolden;
const plain = { valueHead: false, seed: 1 } as const;

await onEachBackend('A directory that transformers saved', () => {
  it.each(GOLDEN_MODEL_NAMES)('has its logits, %s', async (name) => {
    const model = await loadHuggingFaceModel(goldenModelDirectory(name), plain);
    const logits = await computeLogits(model, sequences[0]);
    expect(relativeDifference(logits, models[name].logits.data)).toBeLessThan(tolerances.relative);
    model.dispose();
  });

  it.each(GOLDEN_MODEL_NAMES)('gives the same after it was saved and loaded, %s', async (name) => {
    const adapterDirectory = join(goldenModelDirectory(name), 'adapter');
    const options = { ...plain, adapterDirectory, maxPositions: 20 };
    const model = await loadHuggingFaceModel(goldenModelDirectory(name), options);
    const directory = await temporaryDirectory();
    await saveAdapter(join(directory, 'adapter'), model, { baseModel: name });
    const merged = model.merge();
    // Several shards, in the format in which nothing is lost.
    await saveHuggingFaceModel(join(directory, 'merged'), merged, {
      maxShardBytes: 8000,
      baseDirectory: goldenModelDirectory(name),
    });
    const loaded = await loadHuggingFaceModel(join(directory, 'merged'), plain);
    expect(loaded.config.maxPositions).toBe(64);
    const logits = await computeLogits(loaded, sequences[0]);
    expect(relativeDifference(logits, models[name].lora.mergedLogits.data)).toBeLessThan(tolerances.relative);
    const { lora, tensors } = await readAdapter(adapterDirectory);
    const saved = await readAdapter(join(directory, 'adapter'));
    expect(saved.lora).toEqual(lora);
    expect(new Map([...saved.tensors].sort())).toEqual(new Map([...tensors].sort()));
    for (const each of [model, merged, loaded]) each.dispose();
  });

  it('starts a value head, adapters and a critic from the seed and from the policy', async () => {
    const options = {
      valueHead: true,
      valueTrunk: 'own',
      lora: { rank: 2, alpha: 2, targets: ['q_proj'] },
      seed: 5,
    } as const;
    const directory = goldenModelDirectory('qwen2.5');
    const load = () => loadHuggingFaceModel(directory, options);
    const [model, again] = [await load(), await load()];
    expect(await again.exportTensors()).toEqual(await model.exportTensors());
    const batch = { tokenIds: Int32Array.from(sequences[0]), sequenceOffsets: Int32Array.of(0, 12) };
    const full = await loadHuggingFaceModel(directory, { valueHead: true, valueTrunk: 'own', seed: 5 });
    const scoring = { temperature: 1, maxTokensPerMicroBatch: 64 };
    const [a, b] = [
      await evaluateLogprobs(model, batch, scoring),
      await evaluateLogprobs(full, batch, scoring),
    ];
    expect(relativeDifference(a.values!, b.values!)).toBeLessThan(1e-5);
    for (const each of [model, again, full]) each.dispose();
  });

  it('starts a critic from the weights of another directory, and refuses one with other shapes', async () => {
    const directory = await temporaryDirectory();
    const config = { ...TINY_CONFIG, valueHead: false };
    const [policy, other] = [Transformer.initialize(config, 1), Transformer.initialize(config, 2)];
    const wide = Transformer.initialize({ ...config, intermediateSize: config.intermediateSize * 2 }, 3);
    for (const [name, model] of Object.entries({ policy, other, wide }))
      await saveHuggingFaceModel(join(directory, name), model);
    const load = (critic: string) =>
      loadHuggingFaceModel(join(directory, 'policy'), {
        ...{ valueHead: true, valueTrunk: 'own', seed: 5 },
        criticDirectory: join(directory, critic),
      });
    const loaded = await load('other');
    const [own, ofPolicy, ofOther] = [
      await loaded.exportTensors(),
      await policy.exportTensors(),
      await other.exportTensors(),
    ];
    const critics = [...own].filter(([name]) => name.startsWith('critic.'));
    expect(critics.length).toBeGreaterThan(5);
    for (const [name, tensor] of critics)
      expect(tensor.data).toEqual(ofOther.get(name.slice('critic.'.length))?.data);
    for (const [name, tensor] of ofPolicy) expect(own.get(name)?.data).toEqual(tensor.data);
    await expect(load('wide')).rejects.toThrow(/wide/);
    for (const each of [loaded, policy, other, wide]) each.dispose();
  });
});

describe('saveHuggingFaceModel', () => {
  it('rounds to bfloat16 if asked to, and refuses adapters and directories that have files', async () => {
    await openBackend({ prefer: ['cpu'] });
    const directory = await temporaryDirectory();
    const config = { ...TINY_CONFIG, valueHead: false };
    const model = Transformer.initialize(config, 1);
    await saveHuggingFaceModel(join(directory, 'a'), model, { dtype: 'bfloat16' });
    const { tensors } = decodeSafetensors(await readFile(join(directory, 'a', 'model.safetensors')));
    for (const [name, { data }] of await model.exportTensors()) {
      expect(relativeDifference(tensors.get(name)!.data, data), name).toBeLessThan(2 ** -8);
    }
    await expect(saveHuggingFaceModel(join(directory, 'a'), model)).rejects.toThrow(/has files in it/);
    const adapted = Transformer.initialize(
      { ...config, lora: { rank: 1, alpha: 1, targets: ['q_proj'] } },
      1,
    );
    await expect(saveHuggingFaceModel(join(directory, 'b'), adapted)).rejects.toThrow(/merge it first/);
    await expect(saveAdapter(join(directory, 'b'), model, { baseModel: '' })).rejects.toThrow(/no adapters/);
    model.dispose();
    adapted.dispose();
  });
});

describe('An invalid model directory', () => {
  beforeAll(async () => {
    await openBackend({ prefer: ['cpu'] });
  });

  /** A copy of a golden directory that `damage` may change. */
  async function damaged(name: GoldenModelName, damage: (path: (file: string) => string) => Promise<void>) {
    const directory = join(await temporaryDirectory(), name);
    await cp(goldenModelDirectory(name), directory, { recursive: true });
    await damage((file) => join(directory, file));
    return directory;
  }

  async function editWeights(path: string, edit: (tensors: Map<string, NamedTensor>) => void): Promise<void> {
    const tensors = new Map(decodeSafetensors(await readFile(path)).tensors);
    edit(tensors);
    await writeFile(path, encodeSafetensors(tensors));
  }

  async function editHeader(path: string, edit: (header: string) => string): Promise<void> {
    const bytes = await readFile(path);
    const end = 8 + Number(bytes.readBigUInt64LE());
    const header = Buffer.from(edit(bytes.subarray(8, end).toString()));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    await writeFile(path, Buffer.concat([length, header, bytes.subarray(end)]));
  }

  async function editJson(path: string, edit: (json: Record<string, unknown>) => void): Promise<void> {
    const json = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    edit(json);
    await writeFile(path, JSON.stringify(json));
  }

  const weights = 'model.safetensors';
  const shard = 'model-00002-of-00004.safetensors';
  const index = 'model.safetensors.index.json';
  const key = 'model.layers.0.self_attn.k_proj.weight';

  it.each<[string, GoldenModelName, (path: (file: string) => string) => Promise<void>, string, RegExp]>([
    [
      'no weights',
      'llama',
      (path) => rm(path(weights)),
      'FILE_MISSING',
      /llama\/model.safetensors does not exist$/,
    ],
    [
      'weights in another format',
      'llama',
      async (path) => {
        await rm(path(weights));
        await writeFile(path('pytorch_model.bin'), '');
      },
      'FILE_MISSING',
      /pytorch_model.bin can't be read, save the model as safetensors/,
    ],
    [
      'a missing shard',
      'qwen3',
      (path) => rm(path(shard)),
      'FILE_MISSING',
      /model-00002-of-00004.safetensors does not exist, which .*index.json names/,
    ],
    [
      'an index that names a file elsewhere',
      'qwen3',
      (path) => writeFile(path(index), '{"weight_map":{"a":"../a.safetensors"}}'),
      'INVALID_FILE',
      /index.json names ..\/a.safetensors; shards must be in the same directory/,
    ],
    [
      'an index that contradicts its shards',
      'qwen3',
      (path) => editJson(path(index), (json) => Object.assign(json.weight_map as object, { x: shard })),
      'INVALID_FILE',
      /says that model-00002-of-00004.safetensors has tensor x; it does not/,
    ],
    [
      'a missing tensor',
      'llama',
      (path) => editWeights(path(weights), (tensors) => tensors.delete(key)),
      'TENSOR_MISMATCH',
      /tensor model.layers.0.self_attn.k_proj.weight is missing in model.safetensors; the model needs it as \[16, 16\]/,
    ],
    [
      'a tensor of another shape',
      'llama',
      (path) =>
        editWeights(path(weights), (tensors) =>
          tensors.set(key, { shape: [8, 32], data: tensors.get(key)!.data }),
        ),
      'TENSOR_MISMATCH',
      /model.safetensors: tensor .*k_proj.weight has shape \[8, 32\]; the model needs \[16, 16\]/,
    ],
    [
      'a tensor of integers',
      'llama',
      (path) => editHeader(path(weights), (header) => header.replace('"dtype":"F32"', '"dtype":"I32"')),
      'INVALID_FILE',
      /model.safetensors: tensor .* is of type I32; F32, F16 and BF16 can be read/,
    ],
    [
      'a tensor of integers in a shard',
      'qwen3',
      (path) => editHeader(path(shard), (header) => header.replace(/"dtype":"(BF16|F16)"/, '"dtype":"U16"')),
      'INVALID_FILE',
      /model-00002-of-00004.safetensors: tensor .* is of type U16; F32, F16 and BF16 can be read/,
    ],
    [
      'a type that no format has',
      'llama',
      (path) => editHeader(path(weights), (header) => header.replace('"dtype":"F32"', '"dtype":"toString"')),
      'INVALID_FILE',
      /model.safetensors is not a usable safetensors file: tensor .* of type toString/,
    ],
    [
      'a size beyond all numbers',
      'llama',
      (path) =>
        editHeader(path(weights), (header) => header.replace(/"shape":\[\d+/, '"shape":[9007199254740991')),
      'INVALID_FILE',
      /model.safetensors is not a usable safetensors file: tensor .* lies at \d+ … \d+; it takes \d/,
    ],
    [
      'a header of nothing but brackets',
      'llama',
      (path) => editHeader(path(weights), () => '['.repeat(2_000_000)),
      'INVALID_FILE',
      /model.safetensors is not a safetensors file: its header is not JSON/,
    ],
    [
      'a tensor that is null',
      'llama',
      (path) => editHeader(path(weights), (header) => header.replace(/\{"dtype"[^}]*\}/, 'null')),
      'INVALID_FILE',
      /lacks a dtype, a shape or data_offsets that are whole numbers/,
    ],
    [
      'a NaN in the last shard, when most is loaded',
      'qwen3',
      async (path) => {
        const last = path('model-00004-of-00004.safetensors');
        const bytes = await readFile(last);
        bytes.writeUInt32LE(0x7fc00000, bytes.length - 4);
        await writeFile(last, bytes);
      },
      'NOT_FINITE',
      /model-00004-of-00004.safetensors: tensor .* has NaN at element \d+; weights must be finite/,
    ],
    [
      'a NaN',
      'llama',
      (path) =>
        editWeights(path(weights), (tensors) => tensors.get('model.norm.weight')!.data.fill(NaN, 3, 4)),
      'NOT_FINITE',
      /model.safetensors: tensor model.norm.weight has NaN at element 3; weights must be finite/,
    ],
    [
      'a header cut short',
      'llama',
      (path) => truncate(path(weights), 100),
      'INVALID_FILE',
      /its header claims \d+ bytes; the file has 92 after the length/,
    ],
    [
      'data cut short',
      'llama',
      (path) => truncate(path(weights), 20_000),
      'INVALID_FILE',
      /tensor .* ends at \d+; the file has \d+ bytes of data/,
    ],
    [
      'a header that claims to be huge',
      'llama',
      (path) => writeFile(path(weights), Buffer.alloc(64, 0xff)),
      'INVALID_FILE',
      /its header claims 18446744073709552000 bytes; the file has 56/,
    ],
    [
      'an empty file',
      'llama',
      (path) => truncate(path(weights), 0),
      'INVALID_FILE',
      /it has 0 bytes; the length of the header takes 8/,
    ],
    [
      'offsets that overlap',
      'llama',
      (path) =>
        editHeader(path(weights), (header) =>
          header.replace(/"data_offsets":\[\d+,\d+\]/, '"data_offsets":[0,2147483648]'),
        ),
      'INVALID_FILE',
      /lies at 0 … 2147483648; it takes \d+ bytes/,
    ],
    [
      'shapes that are no sizes',
      'llama',
      (path) => editHeader(path(weights), (header) => header.replace(/"shape":\[\d+/, '"shape":[-1')),
      'INVALID_FILE',
      /lacks a dtype, a shape or data_offsets that are whole numbers/,
    ],
    [
      'an unknown architecture',
      'llama',
      (path) => editJson(path('config.json'), (json) => (json.model_type = 'lama')),
      'UNSUPPORTED_MODEL',
      /config.json has model_type "lama"; it must be one of qwen2, qwen3, llama, mistral; did you mean llama\?/,
    ],
    ['no config', 'llama', (path) => rm(path('config.json')), 'FILE_MISSING', /config.json does not exist/],
    [
      'a config that is no JSON',
      'llama',
      (path) => writeFile(path('config.json'), '{'),
      'INVALID_FILE',
      /config.json is not JSON/,
    ],
    [
      'a larger vocabulary than its weights',
      'llama',
      (path) => editJson(path('config.json'), (json) => (json.vocab_size = 33)),
      'TENSOR_MISMATCH',
      /embed_tokens.weight has shape \[32, 16\]; the model needs \[33, 16\]/,
    ],
  ])('is refused: %s', async (_, name, damage, code, message) => {
    const directory = await damaged(name, damage);
    const before = tf.memory().numTensors;
    const error = await loadHuggingFaceModel(directory, plain).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PolicyError);
    expect((error as PolicyError).message).toMatch(message);
    expect((error as PolicyError).code).toBe(code);
    expect(tf.memory().numTensors).toBe(before);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['another kind of adapter', { peft_type: 'IA3' }, /peft_type "IA3"; it must be "LORA"/],
    ['weights of magnitudes', { use_dora: true }, /use_dora true; it must be false/],
    [
      'another projection',
      { target_modules: ['q_proj', 'embed_tokens'] },
      /target_modules .* must be among q_proj/,
    ],
    ['ranks of their own', { rank_pattern: { q_proj: 2 } }, /rank_pattern .* must be empty/],
    ['a rank of 0', { r: 0 }, /LoraConfig.rank is 0/],
    [
      'another rank than its weights',
      { r: 2 },
      /lora_A.weight has shape \[3, 16\]; the model needs \[2, 16\]/,
    ],
  ])('is refused: an adapter with %s', async (_, change, message) => {
    const directory = await damaged('qwen2', (path) =>
      editJson(path('adapter/adapter_config.json'), (json) => Object.assign(json, change)),
    );
    const before = tf.memory().numTensors;
    const load = loadHuggingFaceModel(directory, { ...plain, adapterDirectory: join(directory, 'adapter') });
    await expect(load).rejects.toThrow(message);
    expect(tf.memory().numTensors).toBe(before);
  });
});
