import type { Variant } from './installation.js';

export const tensorflowVersion = '2.21.0';

/** One file of the Python package index, by content. Wheels for one Python are pinned; only their C++ parts are used. */
export interface WheelPin {
  /** Name on the index. */
  readonly distribution: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly pipPlatform: string;
}

const pins: Readonly<Record<string, WheelPin>> = {
  'linux-x64-cpu': {
    distribution: 'tensorflow-cpu',
    fileName: 'tensorflow_cpu-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl',
    sizeBytes: 274_000_871,
    sha256: 'dcc8afd32930e42d5296b6ee19078b773706830af4ea97fbe503b9f5e0f820cb',
    pipPlatform: 'manylinux_2_27_x86_64',
  },
  'linux-x64-cuda': {
    distribution: 'tensorflow',
    fileName: 'tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl',
    sizeBytes: 572_611_111,
    sha256: 'b3b95643c4e70eb925839938fb35cbe142f317ec84af6844ee61513713bb13c0',
    pipPlatform: 'manylinux_2_27_x86_64',
  },
  'linux-arm64-cpu': {
    distribution: 'tensorflow',
    fileName: 'tensorflow-2.21.0-cp312-cp312-manylinux_2_27_aarch64.whl',
    sizeBytes: 281_946_471,
    sha256: 'b07d15737406533898e36c7ef7944b1be18e9028dc521b9229952c537bbc5552',
    pipPlatform: 'manylinux_2_27_aarch64',
  },
};

/** The wheel to build a variant from on a platform (`linux-x64`), or null where none is pinned. */
export function wheelPinFor(platform: string, variant: Variant): WheelPin | null {
  return pins[`${platform}-${variant}`] ?? null;
}
