import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listBackends } from '@retrace/compute';
import { describe, expect, it } from 'vitest';
import type { Outcome } from './train-and-generate.mjs';

/** Path in Debian's chromium of SwiftShader, a Vulkan driver that computes on the processor, and of Vulkan's loader. */
const CHROMIUM = '/usr/lib/chromium';
const driver = join(CHROMIUM, 'vk_swiftshader_icd.json');
const softwareGpu = {
  RETRACE_WEBGPU_SOFTWARE: 'on',
  VK_ICD_FILENAMES: driver,
  LD_LIBRARY_PATH: CHROMIUM,
};

async function outcomeOn(backend: string): Promise<Outcome> {
  const script = new URL('train-and-generate.mjs', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, backend, 'tiny'], {
    env: { ...process.env, ...softwareGpu },
  });
  return JSON.parse(stdout) as Outcome;
}

async function whyNotHere(): Promise<string | null> {
  if (!existsSync(driver)) return `${driver} is not there (Debian's package chromium has it)`;
  Object.assign(process.env, softwareGpu);
  return (await listBackends()).find(({ name }) => name === 'webgpu')?.obstacle ?? null;
}

const reason = await whyNotHere();

describe.skipIf(reason !== null)(`WebGPU${reason === null ? '' : `: skipped, because ${reason}`}`, () => {
  it('WebGPU on SwiftShader: trains and generates like plain JavaScript', async () => {
    const [webgpu, plain] = await Promise.all([outcomeOn('webgpu'), outcomeOn('cpu')]);
    expect(webgpu.greedyTokens).toEqual(plain.greedyTokens);
    expectClose(webgpu.losses, plain.losses);
    expectClose(webgpu.logprobs, plain.logprobs);
  });
});

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, n) => {
    expect(Math.abs(value - expected[n])).toBeLessThan(1e-4 * Math.max(1, Math.abs(expected[n])));
  });
}
