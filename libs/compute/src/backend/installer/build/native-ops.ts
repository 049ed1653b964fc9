import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ComputeError } from '../../compute-error.js';
import { nodeGypScript } from './addon-sources.js';
import type { BuildTools } from './build-tools.js';
import { BINDING_FILE, INCLUDE_DIRECTORY, LIBRARY_DIRECTORY } from '../installation.js';
import { runningProcessor } from './processor.js';
import { lastLine, runCommand } from '../run-command.js';

const OPS_FILE = 'retrace_ops.node';
const QUIET_FILE = 'retrace_quiet.node';

/** Addons of our own beside TensorFlow's, by their paths. */
export interface NativeAddons {
  readonly ops: string;
  /** Has `silently`, for the load of TensorFlow itself. */
  readonly quiet: string;
}

/**
 * Where the compiled ops of an installation are, or null if they were not compiled from the present sources for this processor. An
 * installation is whole without them: ops are then composed of TensorFlow's own.
 */
export function findNativeOps(installationDirectory: string): NativeAddons | null {
  const sources = findSources();
  if (sources === null) return null;
  const directory = join(installationDirectory, nativeOpsDirectory(sources));
  const addons = { ops: join(directory, OPS_FILE), quiet: join(directory, QUIET_FILE) };
  return existsSync(addons.ops) && existsSync(addons.quiet) ? addons : null;
}

/**
 * Compiles the ops for this processor against an installation, loads them in a process of their own, and puts them into place.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` with what the compiler or the loader said.
 */
export async function compileNativeOps(
  installationDirectory: string,
  { python, nodePrefix }: BuildTools,
  signal?: AbortSignal,
): Promise<void> {
  const sources = findSources();
  if (sources === null) throw failed('Finding', 'their sources are not part of this build');
  // Two levels below the installation, as the addon is, for the same RUNPATH.
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
        `--processor=${runningProcessor()}`,
      ],
      { directory: build, signal },
    );
    if (compiled.exitCode !== 0) throw failed('Compiling', lastLine(compiled));
    const result = join(build, 'result');
    await mkdir(result);
    for (const file of [OPS_FILE, QUIET_FILE])
      await rename(join(build, 'build', 'Release', file), join(result, file));
    await testOps(installationDirectory, { ops: join(result, OPS_FILE), quiet: join(result, QUIET_FILE) });
    const target = join(installationDirectory, nativeOpsDirectory(sources));
    await rm(target, { recursive: true, force: true });
    await rename(result, target);
  } finally {
    await rm(build, { recursive: true, force: true });
  }
}

/** The folder `native` of this package, which is above this file wherever a build has put it; null if it is not there. */
function findSources(): string | null {
  for (let above = import.meta.dirname; above !== dirname(above); above = dirname(above)) {
    const candidate = join(above, 'native');
    if (existsSync(join(candidate, 'binding.gyp'))) return candidate;
  }
  return null;
}

/** Ops depend on their sources and the processor that they are compiled for; TensorFlow's version is that of the installation. */
function nativeOpsDirectory(sources: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(sources).sort()) hash.update(name).update(readFileSync(join(sources, name)));
  return join('lib', `ops-${hash.digest('hex').slice(0, 12)}-${runningProcessor()}`);
}

async function testOps(installationDirectory: string, { ops, quiet }: NativeAddons): Promise<void> {
  const result = await runCommand(
    process.execPath,
    ['-e', ACTIVATION, quiet, join(installationDirectory, BINDING_FILE), ops],
    {
      environment: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3', CUDA_VISIBLE_DEVICES: '-1' },
      timeoutMs: 120_000,
    },
  );
  if (result.exitCode !== 0 || !result.output.endsWith('activated 17.5'))
    throw failed('Loading', lastLine(result));
}

/** SwiGLU of a gate of 5, which σ leaves nearly as it is, and 3.5236: 5·σ(5)·3.5236 = 17.5. */
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
