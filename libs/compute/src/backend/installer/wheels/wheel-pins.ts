import type { Variant } from '../installation.js';
import type { TensorflowVersion } from './tensorflow-version.js';

/** One file of the Python package index, by content. Wheels for one Python are pinned, of which only the C++ parts are used. */
export interface WheelPin {
  /** Name on the index. */
  readonly distribution: string;
  readonly version: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly pipPlatform: string;
}

/** A platform and a variant. */
type Target = 'linux-x64-cpu' | 'linux-x64-cuda' | 'linux-arm64-cpu';

/** The distribution for each target, and the index's name of its processor. */
const TARGETS: Readonly<Record<Target, { readonly distribution: string; readonly processor: string }>> = {
  'linux-x64-cpu': { distribution: 'tensorflow-cpu', processor: 'x86_64' },
  'linux-x64-cuda': { distribution: 'tensorflow', processor: 'x86_64' },
  'linux-arm64-cpu': { distribution: 'tensorflow', processor: 'aarch64' },
};

interface PinnedVersion {
  /** Tags of its wheels without the processor. File names hold all of them, and pip accepts any. */
  readonly tags: readonly [string, ...string[]];
  /** Bytes and SHA-256 of its wheels. */
  readonly files: Readonly<Record<Target, readonly [number, string]>>;
}

const PINS: Readonly<Record<TensorflowVersion, PinnedVersion>> = {
  '2.21.0': {
    tags: ['manylinux_2_27'],
    files: {
      'linux-x64-cpu': [274_000_871, 'dcc8afd32930e42d5296b6ee19078b773706830af4ea97fbe503b9f5e0f820cb'],
      'linux-x64-cuda': [572_611_111, 'b3b95643c4e70eb925839938fb35cbe142f317ec84af6844ee61513713bb13c0'],
      'linux-arm64-cpu': [281_946_471, 'b07d15737406533898e36c7ef7944b1be18e9028dc521b9229952c537bbc5552'],
    },
  },
  '2.20.0': {
    tags: ['manylinux_2_17', 'manylinux2014'],
    files: {
      'linux-x64-cpu': [258_989_246, 'c7a9224185818094ed95c4e114d3efe77241db35fbf0b75251fb2bf6222dd6a7'],
      'linux-x64-cuda': [620_682_547, '25265b0bc527e0d54b1e9cc60c44a24f44a809fe27666b905f0466471f9c52ec'],
      'linux-arm64-cpu': [259_533_109, '2bfbfb3dd0e22bffc45fe1e922390d27753e99261fab8a882e802cf98a0e078f'],
    },
  },
  '2.19.1': {
    tags: ['manylinux_2_17', 'manylinux2014'],
    files: {
      'linux-x64-cpu': [251_917_833, '2cb4b20fa86b04c166db1616fd466d09ec850cc3b47607cf12225469e750c476'],
      'linux-x64-cuda': [645_010_075, '35a6950f3fee0ad2d1668241d31684676f2e6eceb613cbeef960ea22014ef8fb'],
      'linux-arm64-cpu': [252_718_124, '4c0e78b6100545fd90934c557f1ce802e6a9a7fdb031025efc298efb4aa2e3bb'],
    },
  },
};

/** Returns the wheel that a version and variant is built from on a platform (`linux-x64`), or null where none is pinned. */
export function wheelPinFor(platform: string, variant: Variant, version: TensorflowVersion): WheelPin | null {
  const target = `${platform}-${variant}`;
  if (!isTarget(target)) return null;
  const { distribution, processor } = TARGETS[target];
  const { tags, files } = PINS[version];
  const [sizeBytes, sha256] = files[target];
  const wheelTag = tags.map((tag) => `${tag}_${processor}`).join('.');
  return {
    distribution,
    version,
    fileName: `${distribution.replace('-', '_')}-${version}-cp312-cp312-${wheelTag}.whl`,
    sizeBytes,
    sha256,
    pipPlatform: `${tags[0]}_${processor}`,
  };
}

function isTarget(name: string): name is Target {
  return name in TARGETS;
}
