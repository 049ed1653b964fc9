import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeSafetensors, encodeSafetensors } from '../testing/safetensors.js';

interface SafetensorsGolden {
  readonly files: Record<'float32' | 'float16' | 'bfloat16' | 'int64', string>;
  readonly expected: Record<'float32' | 'float16' | 'bfloat16', number[]>;
  readonly readFromRetrace: Record<string, { shape: number[]; data: number[] }>;
}

const goldenDirectory = new URL('../../../../test/golden/policy/', import.meta.url);
const golden = JSON.parse(
  readFileSync(new URL('safetensors.json', goldenDirectory), 'utf8'),
) as SafetensorsGolden;
const retraceFile = readFileSync(new URL('retrace.safetensors', goldenDirectory));

const tensors = new Map([
  ['model.a', { shape: [2, 3], data: Float32Array.of(0, -1.5, 3e-5, 65504, 1 / 3, -7) }],
  ['ü', { shape: [1], data: Float32Array.of(1e-30) }],
  ['empty', { shape: [0], data: new Float32Array(0) }],
]);

describe('encodeSafetensors', () => {
  it('writes the bytes in which the Python library found every tensor', () => {
    expect(Buffer.from(encodeSafetensors(tensors, { step: '12' })).equals(retraceFile)).toBe(true);
    for (const [name, { shape, data }] of Object.entries(golden.readFromRetrace)) {
      expect(tensors.get(name)).toEqual({ shape, data: Float32Array.from(data) });
    }
    expect(Object.keys(golden.readFromRetrace).sort()).toEqual([...tensors.keys()].sort());
  });

  it('refuses data that do not fill the shape', () => {
    const bad = new Map([['a', { shape: [2, 2], data: new Float32Array(3) }]]);
    expect(() => encodeSafetensors(bad)).toThrow(/tensor a has 3 values for shape \[2, 2\]/);
  });
});

describe('decodeSafetensors', () => {
  it.each(['float32', 'float16', 'bfloat16'] as const)(
    'reads what the Python library wrote as %s',
    (type) => {
      const { tensors: read } = decodeSafetensors(Buffer.from(golden.files[type], 'base64'));
      expect(read.get('a')).toEqual({ shape: [2, 3], data: Float32Array.from(golden.expected[type]) });
    },
  );

  it('reads metadata', () => {
    expect(decodeSafetensors(Buffer.from(golden.files.float32, 'base64')).metadata).toEqual({ step: '7' });
  });

  it('decodes what was encoded at any alignment in memory', () => {
    const shifted = new Uint8Array(retraceFile.length + 3);
    shifted.set(retraceFile, 3);
    expect(new Map(decodeSafetensors(shifted.subarray(3)).tensors)).toEqual(tensors);
  });

  it('refuses files that break the format, and types that are no floats', () => {
    const withHeader = (header: string) => {
      const file = Buffer.alloc(8 + header.length);
      file.writeBigUInt64LE(BigInt(header.length));
      file.write(header, 8);
      return file;
    };
    const refusals: [Uint8Array, RegExp][] = [
      [new Uint8Array(3), /it has 3 bytes/],
      [Buffer.from(golden.files.int64, 'base64'), /tensor a is of type I64; F32, F16 and BF16 can be read/],
      [retraceFile.subarray(0, 100), /header claims/],
      [retraceFile.subarray(0, retraceFile.length - 4), /not a usable safetensors file/],
      [Buffer.concat([retraceFile, Buffer.alloc(4)]), /of which tensors use/],
      [withHeader('no JSON!'), /its header is not JSON/],
      [withHeader('{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}'), /starts at 4/],
    ];
    for (const [file, message] of refusals) expect(() => decodeSafetensors(file)).toThrow(message);
  });
});
