import { describe, expect, it } from 'vitest';
import { TENSORFLOW_VERSIONS } from './tensorflow-version.js';
import { wheelPinFor } from './wheel-pins.js';

/** Names, tags and sizes as the index of Python packages lists them. */
const onTheIndex = [
  ['linux-x64', 'cpu', '2.21.0', 'tensorflow_cpu-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl', 274_000_871],
  ['linux-x64', 'cuda', '2.21.0', 'tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl', 572_611_111],
  ['linux-arm64', 'cpu', '2.21.0', 'tensorflow-2.21.0-cp312-cp312-manylinux_2_27_aarch64.whl', 281_946_471],
  [
    ...(['linux-x64', 'cpu', '2.20.0'] as const),
    'tensorflow_cpu-2.20.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
    258_989_246,
  ],
  [
    ...(['linux-x64', 'cuda', '2.20.0'] as const),
    'tensorflow-2.20.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
    620_682_547,
  ],
  [
    ...(['linux-arm64', 'cpu', '2.20.0'] as const),
    'tensorflow-2.20.0-cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64.whl',
    259_533_109,
  ],
  [
    ...(['linux-x64', 'cpu', '2.19.1'] as const),
    'tensorflow_cpu-2.19.1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
    251_917_833,
  ],
  [
    ...(['linux-x64', 'cuda', '2.19.1'] as const),
    'tensorflow-2.19.1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
    645_010_075,
  ],
  [
    ...(['linux-arm64', 'cpu', '2.19.1'] as const),
    'tensorflow-2.19.1-cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64.whl',
    252_718_124,
  ],
] as const;

describe('wheelPinFor', () => {
  it.each(onTheIndex)('%s %s %s is the file %s', (platform, variant, version, fileName, sizeBytes) => {
    expect(wheelPinFor(platform, variant, version)).toMatchObject({ version, fileName, sizeBytes });
  });

  it("asks pip for one of the platforms in the file's name", () => {
    for (const [platform, variant, version, fileName] of onTheIndex) {
      const { distribution, pipPlatform } = wheelPinFor(platform, variant, version) ?? {};
      const [name, , , , tags] = fileName.replace('.whl', '').split('-');
      expect(distribution?.replace('-', '_')).toBe(name);
      expect(tags.split('.')).toContain(pipPlatform);
    }
  });

  it('pins another checksum for each file', () => {
    const checksums = onTheIndex.map(
      ([platform, variant, version]) => wheelPinFor(platform, variant, version)?.sha256,
    );
    for (const checksum of checksums) expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(checksums).size).toBe(checksums.length);
    expect([...new Set(onTheIndex.map(([, , version]) => version))]).toEqual([...TENSORFLOW_VERSIONS]);
  });

  it.each([
    ['linux-arm64', 'cuda'],
    ['darwin-arm64', 'cpu'],
    ['win32-x64', 'cpu'],
  ] as const)('returns null for %s %s', (platform, variant) => {
    expect(wheelPinFor(platform, variant, '2.21.0')).toBeNull();
  });
});
