import { cp, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry } from 'yauzl';
import { ComputeError } from '../../compute-error.js';
import { addonSourceDirectory, nodeGypScript } from './addon-sources.js';
import type { CompileStep } from './build-tools.js';
import { BINDING_FILE, INCLUDE_DIRECTORY, LIBRARY_DIRECTORY } from '../installation.js';
import type { CommandResult } from '../run-command.js';
import { lastLine, runCommand } from '../run-command.js';
import { WheelArchive } from '../wheels/wheel-archive.js';

/** Environment of a process that tests an addon: without TensorFlow's messages, and without GPUs. */
export const ON_PROCESSOR_ONLY = { TF_CPP_MIN_LOG_LEVEL: '3', CUDA_VISIBLE_DEVICES: '-1' } as const;

const LIBRARIES = ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'] as const;
/** The C API, and the headers that it includes. */
const HEADER_FOLDERS = [
  'tensorflow/c/',
  'tensorflow/core/common_runtime/next_pluggable_device/c/',
  'tensorflow/core/platform/',
  'xla/tsl/',
  'tsl/',
] as const;

/**
 * Extracts the libraries and the headers of the C API from a TensorFlow wheel. Where the command `strip` exists, it
 * removes unneeded symbols, a quarter of the libraries' size.
 */
export async function unpackTensorflow(
  wheelPath: string,
  directory: string,
  onFraction: (fraction: number) => void,
): Promise<void> {
  const wheel = await WheelArchive.open(wheelPath);
  try {
    const wanted = wheel.entries.flatMap((entry) => {
      const target = tensorflowTarget(entry.fileName);
      return target === null ? [] : [{ entry, target }];
    });
    await extractAll(wheel, wanted, directory, onFraction);
  } finally {
    wheel.close();
  }
  const folder = join(directory, LIBRARY_DIRECTORY);
  const found = await readdir(folder).catch((): string[] => []);
  for (const library of LIBRARIES) {
    if (!found.includes(library)) {
      throw new ComputeError('BACKEND_INSTALL_FAILED', `The TensorFlow wheel does not hold ${library}.`);
    }
  }
  await runCommand('strip', ['--strip-unneeded', ...LIBRARIES.map((library) => join(folder, library))]);
}

/** Extracts the libraries of NVIDIA's wheels to where TensorFlow's RUNPATH finds them: `lib/../nvidia/<package>/lib`. */
export async function unpackNvidia(
  wheelPaths: readonly string[],
  directory: string,
  onFraction: (fraction: number) => void,
): Promise<void> {
  for (const [index, path] of wheelPaths.entries()) {
    const wheel = await WheelArchive.open(path);
    try {
      const wanted = wheel.entries
        .filter(
          (entry) => entry.fileName.startsWith('nvidia/') && !/\/include\/|\.(py|h)$/.test(entry.fileName),
        )
        .map((entry) => ({ entry, target: `deps/${entry.fileName}` }));
      await extractAll(wheel, wanted, directory, (fraction) => {
        onFraction((index + fraction) / wheelPaths.length);
      });
    } finally {
      wheel.close();
    }
  }
}

/**
 * Compiles the addon in `directory`, which holds the unpacked TensorFlow, and removes the compiler's inputs.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` with the last line of the compiler's output
 */
export async function compileAddon({
  directory,
  tools: { python, nodePrefix },
  signal,
}: CompileStep): Promise<void> {
  const sources = addonSourceDirectory();
  const libraryFolder = join(directory, LIBRARY_DIRECTORY);
  await cp(join(sources, 'binding.gyp'), join(directory, 'binding.gyp'));
  await cp(join(sources, 'package.json'), join(directory, 'package.json'));
  await cp(join(sources, 'binding'), join(directory, 'binding'), { recursive: true });
  await mkdir(join(directory, 'lib'), { recursive: true });
  // The linker looks for these names; the addon itself loads the versioned ones.
  await symlink(LIBRARIES[0], join(libraryFolder, 'libtensorflow.so'));
  await symlink(LIBRARIES[1], join(libraryFolder, 'libtensorflow_framework.so'));
  const result = await runCommand(
    process.execPath,
    [
      ...[nodeGypScript(), 'rebuild', `--nodedir=${nodePrefix}`, `--python=${python}`],
      ...['--module_name=tfjs_binding', `--module_path=${join(directory, 'lib', 'napi-v8')}`],
      ...['--napi_version=9', '--napi_build_version=8'],
    ],
    { directory, signal },
  );
  if (result.exitCode !== 0) throw compileError(result, signal);
  const buildOnly = ['build', 'binding', 'binding.gyp', 'package.json'];
  const links = [`${LIBRARY_DIRECTORY}/libtensorflow.so`, `${LIBRARY_DIRECTORY}/libtensorflow_framework.so`];
  for (const path of [...buildOnly, ...links])
    await rm(join(directory, path), { recursive: true, force: true });
}

/**
 * Loads the built addon in a process of its own and multiplies 3 × 3 with it.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` if it does not load, or the product is not 9
 */
export async function testAddon(directory: string): Promise<void> {
  const result = await runCommand(process.execPath, ['-e', MULTIPLICATION, join(directory, BINDING_FILE)], {
    environment: ON_PROCESSOR_ONLY,
    timeoutMs: 120_000,
  });
  if (result.exitCode !== 0 || !result.output.endsWith('product 9')) {
    throw new ComputeError(
      'BACKEND_INSTALL_FAILED',
      `The built addon does not compute on this machine: ${lastLine(result)}.`,
    );
  }
}

const MULTIPLICATION = `
  const binding = require(process.argv[1]);
  const three = binding.createTensor([1, 1], binding.TF_FLOAT, new Float32Array([3]));
  const flag = (name) => ({ name, type: binding.TF_ATTR_BOOL, value: false });
  const attributes = [flag('transpose_a'), flag('transpose_b'), { name: 'T', type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT }];
  const [product] = binding.executeOp('MatMul', attributes, [three, three], 1);
  process.stdout.write('product ' + binding.tensorDataSync(product.id)[0]);
`;

function tensorflowTarget(path: string): string | null {
  if (LIBRARIES.some((library) => path === `tensorflow/${library}`)) {
    return `${LIBRARY_DIRECTORY}/${path.slice('tensorflow/'.length)}`;
  }
  const header = path.startsWith('tensorflow/include/') ? path.slice('tensorflow/include/'.length) : null;
  return header !== null && HEADER_FOLDERS.some((folder) => header.startsWith(folder))
    ? `${INCLUDE_DIRECTORY}/${header}`
    : null;
}

async function extractAll(
  wheel: WheelArchive,
  wanted: readonly { readonly entry: Entry; readonly target: string }[],
  directory: string,
  onFraction: (fraction: number) => void,
): Promise<void> {
  const totalBytes = wanted.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  let written = 0;
  for (const { entry, target } of wanted) {
    await wheel.extract(entry, join(directory, target), (numBytes) => {
      written += numBytes;
      onFraction(written / totalBytes);
    });
  }
}

function compileError(result: CommandResult, signal: AbortSignal | undefined): ComputeError {
  const line =
    result.output
      .split('\n')
      .find((candidate) => /error:|fatal|cannot find/i.test(candidate))
      ?.trim() ?? lastLine(result);
  const why = signal?.aborted === true ? 'it was cancelled' : line;
  return new ComputeError('BACKEND_INSTALL_FAILED', `Compiling the addon failed: ${why}.`);
}
