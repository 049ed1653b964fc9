import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';

const packageDirectory = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles a TypeScript module and runs it in a Node process of its own; returns its output. */
export async function runAsProgram(module: URL, args: readonly string[]): Promise<string> {
  // Inside the package, so that the bundle finds node_modules.
  const directory = await mkdtemp(join(packageDirectory, 'node_modules-program-'));
  try {
    await build({
      configFile: false,
      logLevel: 'silent',
      resolve: { conditions: ['retrace-source'] },
      ssr: { noExternal: [/^@retrace\//], resolve: { conditions: ['retrace-source'] } },
      build: { ssr: fileURLToPath(module), outDir: directory, emptyOutDir: false },
    });
    const program = join(directory, basename(module.pathname).replace(/\.ts$/, '.js'));
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args]);
    return stdout.trim();
  } finally {
    await rm(directory, { recursive: true });
  }
}
