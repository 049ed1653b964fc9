import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ComputeError } from '../../compute-error.js';
import { nodeGypScript } from './addon-sources.js';
import { ON_PROCESSOR_ONLY } from './build-addon.js';
import type { CompileStep } from './build-tools.js';
import { BINDING_FILE, INCLUDE_DIRECTORY, LIBRARY_DIRECTORY } from '../installation.js';
import type { Processor } from './processor.js';
import { lastLine, runCommand } from '../run-command.js';

const OPS_FILE = 'retrace_ops.node';
const HOST_FILE = 'retrace_host.node';

/** Paths of Retrace's own addons. */
export interface NativeAddons {
  readonly ops: string;
  /** Exports what is done to the process before TensorFlow itself is loaded (`HostAddon`). */
  readonly host: string;
}

/**
 * Finds the compiled ops of an installation; null if none were compiled from the present sources for this processor. An
 * installation is complete without them: ops are then composed of TensorFlow's own.
 */
export function findNativeOps(installationDirectory: string, processor: Processor): NativeAddons | null {
  const sources = findSources();
  if (sources === null) return null;
  const directory = join(installationDirectory, nativeOpsDirectory(sources, processor));
  const addons = { ops: join(directory, OPS_FILE), host: join(directory, HOST_FILE) };
  return existsSync(addons.ops) && existsSync(addons.host) ? addons : null;
}

/**
 * Compiles the ops against the installation in `directory`, tests them in a process of their own, and moves them into it.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` with the last line of the compiler's or the loader's output
 */
export async function compileNativeOps(
  { directory: installationDirectory, tools: { python, nodePrefix }, signal }: CompileStep,
  processor: Processor,
): Promise<void> {
  const sources = findSources();
  if (sources === null) throw failed('Finding', 'their sources are not part of this build');
  // Two levels below the installation, like the addon, because they have the same RUNPATH.
  await mkdir(join(installationDirectory, 'lib'), { recursive: true });
  const build = await mkdtemp(join(installationDirectory, 'lib', '.building-'));
  try {
    await cp(sources, build, { recursive: true });
    const compiled = await runCommand(
      process.execPath,
      [
        ...[nodeGypScript(), 'rebuild', `--nodedir=${nodePrefix}`, `--python=${python}`],
        `--tensorflow_include=${join(installationDirectory, INCLUDE_DIRECTORY)}`,
        `--tensorflow_lib=${join(installationDirectory, LIBRARY_DIRECTORY)}`,
        `--processor=${processor}`,
      ],
      { directory: build, signal },
    );
    if (compiled.exitCode !== 0) throw failed('Compiling', lastLine(compiled));
    const result = join(build, 'result');
    await mkdir(result);
    for (const file of [OPS_FILE, HOST_FILE])
      await rename(join(build, 'build', 'Release', file), join(result, file));
    await testOps(installationDirectory, { ops: join(result, OPS_FILE), host: join(result, HOST_FILE) });
    const target = join(installationDirectory, nativeOpsDirectory(sources, processor));
    await rm(target, { recursive: true, force: true });
    await rename(result, target);
  } finally {
    await rm(build, { recursive: true, force: true });
  }
}

/** Returns the folder `native` of this package, above this file in sources and builds; null if a build left it out. */
function findSources(): string | null {
  for (let above = import.meta.dirname; above !== dirname(above); above = dirname(above)) {
    const candidate = join(above, 'native');
    if (existsSync(join(candidate, 'binding.gyp'))) return candidate;
  }
  return null;
}

/** Names the folder of ops by their sources and processor; TensorFlow's version is that of the installation. */
function nativeOpsDirectory(sources: string, processor: Processor): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(sources).sort()) hash.update(name).update(readFileSync(join(sources, name)));
  return join('lib', `ops-${hash.digest('hex').slice(0, 12)}-${processor}`);
}

async function testOps(installationDirectory: string, { ops, host }: NativeAddons): Promise<void> {
  const result = await runCommand(
    process.execPath,
    ['-e', ACTIVATION, host, join(installationDirectory, BINDING_FILE), ops],
    {
      environment: ON_PROCESSOR_ONLY,
      timeoutMs: 120_000,
    },
  );
  if (result.exitCode !== 0 || !result.output.endsWith('activated 17.5'))
    throw failed('Loading', lastLine(result));
}

/** Computes SwiGLU of the gate 5 and 3.5236: 5·σ(5)·3.5236 = 17.5. */
const ACTIVATION = `
  const binding = require(process.argv[1]).silently(() => require(process.argv[2]));
  require(process.argv[3]);
  const scalar = (x) => binding.createTensor([1], binding.TF_FLOAT, new Float32Array([x]));
  const [y] = binding.executeOp('RetraceSwiGlu', [], [scalar(5), scalar(3.5236)], 1);
  process.stdout.write('activated ' + binding.tensorDataSync(y.id)[0].toFixed(1));
`;

function failed(what: string, why: string): ComputeError {
  return new ComputeError('BACKEND_INSTALL_FAILED', `${what} Retrace's own ops failed: ${why}.`);
}
