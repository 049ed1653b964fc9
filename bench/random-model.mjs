/** Writes a model directory of a given shape with random bfloat16 weights, as large as a downloaded one. */
import { Buffer } from 'node:buffer';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The shape of Qwen2.5-0.5B. */
export const qwenHalfBillion = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  vocab_size: 151_936,
  hidden_size: 896,
  intermediate_size: 4864,
  num_hidden_layers: 24,
  num_attention_heads: 14,
  num_key_value_heads: 2,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  tie_word_embeddings: true,
  hidden_act: 'silu',
  use_sliding_window: false,
  torch_dtype: 'bfloat16',
};

const INITIALIZER_STD = 0.02;
/** Matrices repeat this many numbers; it is prime, so no two rows are equal. */
const STRETCH_LENGTH = 1_048_583;

export function writeRandomModel(directory, config) {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config, null, 2));
  const tensors = tensorsOf(config);
  const header = {};
  let end = 0;
  for (const [name, shape] of tensors) {
    const start = end;
    end += 2 * shape.reduce((a, b) => a * b, 1);
    header[name] = { dtype: 'BF16', shape, data_offsets: [start, end] };
  }
  const json = Buffer.from(JSON.stringify(header).padEnd(8 * Math.ceil(JSON.stringify(header).length / 8)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const file = openSync(join(directory, 'model.safetensors'), 'w');
  writeSync(file, length);
  writeSync(file, json);
  const normal = bfloat16(STRETCH_LENGTH, standardNormal());
  const ones = bfloat16(config.hidden_size, () => 1 / INITIALIZER_STD);
  for (const [name, shape] of tensors) {
    const stretch = /norm/.test(name) ? ones : normal;
    let left = 2 * shape.reduce((a, b) => a * b, 1);
    for (; left > 0; left -= stretch.length) writeSync(file, stretch, 0, Math.min(left, stretch.length));
  }
  closeSync(file);
  return end;
}

function tensorsOf(config) {
  const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads } = config;
  const keyValueWidth = (hidden / heads) * config.num_key_value_heads;
  const tensors = [['model.embed_tokens.weight', [config.vocab_size, hidden]]];
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const of = (name, shape) => [`model.layers.${layer}.${name}`, shape];
    tensors.push(
      of('input_layernorm.weight', [hidden]),
      ...[
        ['q', hidden],
        ['k', keyValueWidth],
        ['v', keyValueWidth],
      ].flatMap(([name, width]) => [
        of(`self_attn.${name}_proj.weight`, [width, hidden]),
        of(`self_attn.${name}_proj.bias`, [width]),
      ]),
      of('self_attn.o_proj.weight', [hidden, hidden]),
      of('post_attention_layernorm.weight', [hidden]),
      of('mlp.gate_proj.weight', [inner, hidden]),
      of('mlp.up_proj.weight', [inner, hidden]),
      of('mlp.down_proj.weight', [hidden, inner]),
    );
  }
  tensors.push(['model.norm.weight', [hidden]]);
  return tensors;
}

/** Returns normal numbers times the standard deviation of the weights, as bytes. */
function bfloat16(length, draw) {
  const values = Float32Array.from({ length }, () => INITIALIZER_STD * draw());
  const bits = new Uint32Array(values.buffer);
  return Buffer.from(Uint16Array.from(bits, (word) => (word + 0x8000) >>> 16).buffer);
}

/** Normal random numbers: Box–Muller over a linear congruential generator. */
function standardNormal() {
  let state = 1;
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
