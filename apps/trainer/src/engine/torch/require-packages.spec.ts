import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from './engine-process.js';
import { requireEnginePackages } from './require-packages.js';

const scratch = mkdtempSync(join(tmpdir(), 'retrace-packages-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** A program that answers as Python does to what it is asked for. */
function pythonThat(name: string, script: string): string {
  const path = join(scratch, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

describe('pythonEnvironment', () => {
  it('has the sources of the checkout, also in a process that knows this package by its link', () => {
    const linked = '../../../../../node_modules/@retrace/trainer/src/engine/torch/engine-process.ts';
    const { PYTHONPATH } = pythonEnvironment(new URL(linked, import.meta.url).href);
    const sources = new URL('../../../../../clients/python/src', import.meta.url).pathname;
    expect(PYTHONPATH.split(':')[0]).toBe(sources);
  });
});

describe('requireEnginePackages', () => {
  it('asks the Python of the recipe for each package, and is content where it has them', async () => {
    const python = pythonThat(
      'whole',
      `shift 2; [ "$*" = "torch numpy safetensors aiohttp pyarrow retrace.engine" ]`,
    );
    await expect(requireEnginePackages({ kind: 'torch', python })).resolves.toBeUndefined();
  });

  it.each([
    ['no-such-python', 'no-such-python, which is no program; see'],
    [
      pythonThat('lacking', 'echo torch retrace.engine'),
      "lacking, which lacks torch, retrace.engine: pip install 'clients/python[engine]' in a checkout of Retrace; see",
    ],
    [
      pythonThat('broken', 'echo first; echo no Python here >&2; exit 3'),
      'broken, which fails (no Python here); see',
    ],
    [pythonThat('silent', 'exit 3'), 'silent, which fails (exit code 3); see'],
  ])('refuses %s', async (python, reason) => {
    await expect(requireEnginePackages({ kind: 'torch', python })).rejects.toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
      message: expect.stringContaining(reason) as string,
    });
  });

  it('does not look at an engine that others start, nor at one that needs no Python', async () => {
    const python = 'no-such-python';
    await requireEnginePackages({ kind: 'torch', python, url: 'http://host:8100' });
    await requireEnginePackages({ kind: 'tensorflow', python });
  });
});
