import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ComputeError } from '../compute-error.js';
import { temporaryDirectory } from '../../testing/temporary-directory.js';
import type { BuildSteps } from './build/build-steps.js';
import { installWith } from './install-backend.js';
import type { TensorflowBuild } from './installation.js';
import { BINDING_FILE, findDamage, findInstallation, findInstallations } from './installation.js';
import type { InstallProgress } from './progress.js';
import { removeBackend } from './remove-backend.js';

/** Steps that write small files instead of downloading and compiling, and count how often each runs. */
class FakeSteps implements BuildSteps {
  readonly counts = { download: 0, unpack: 0, compile: 0, test: 0, compileOps: 0 };
  failAt: keyof FakeSteps['counts'] | null = null;

  findTools(): Promise<{ python: string; nodePrefix: string }> {
    return Promise.resolve({ python: 'python3', nodePrefix: '/' });
  }

  async download({ directory, onFraction }: Parameters<BuildSteps['download']>[0]): Promise<string[]> {
    this.pass('download');
    onFraction(0.5, 'half');
    const path = join(directory, 'wheel');
    await writeFile(path, 'wheel');
    return [path];
  }

  async unpack({ directory }: Parameters<BuildSteps['unpack']>[0]): Promise<void> {
    await this.write(directory, 'deps/lib/library', 'library');
    this.pass('unpack');
  }

  async compile({ directory }: Parameters<BuildSteps['compile']>[0]): Promise<void> {
    await this.write(directory, BINDING_FILE, 'binding');
    this.pass('compile');
  }

  test(): Promise<void> {
    this.pass('test');
    return Promise.resolve();
  }

  hasOps(directory: string): boolean {
    return existsSync(join(directory, 'ops'));
  }

  async compileOps({ directory }: Parameters<BuildSteps['compileOps']>[0]): Promise<void> {
    this.pass('compileOps');
    await this.write(directory, 'ops', 'ops');
  }

  private pass(step: keyof FakeSteps['counts']): void {
    this.counts[step]++;
    if (this.failAt === step) throw new ComputeError('BACKEND_INSTALL_FAILED', `${step} failed`);
  }

  private async write(directory: string, path: string, content: string): Promise<void> {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

const cpu: TensorflowBuild = { version: '2.21.0', variant: 'cpu' };

describe('installBackend', () => {
  it('installs once, and then finds the installation', async () => {
    const cacheDirectory = await temporaryDirectory();
    const steps = new FakeSteps();
    const installed = await installWith(steps, cpu, { cacheDirectory });
    expect(await findInstallation(cacheDirectory, cpu)).toEqual(installed);
    expect(await installWith(steps, cpu, { cacheDirectory })).toEqual(installed);
    expect(steps.counts).toEqual({ download: 1, unpack: 1, compile: 1, test: 1, compileOps: 1 });
    expect(installed.sizeBytes).toBe('library'.length + 'binding'.length);
    expect(await findDamage(installed)).toBeNull();
    expect(await readdir(cacheDirectory)).toEqual(['backends']);
  });

  it.each(['unpack', 'compile', 'test'] as const)(
    'leaves nothing but the download when %s fails',
    async (step) => {
      const cacheDirectory = await temporaryDirectory();
      const steps = new FakeSteps();
      steps.failAt = step;
      await expect(installWith(steps, cpu, { cacheDirectory })).rejects.toThrow(`${step} failed`);
      expect(await findInstallation(cacheDirectory, cpu)).toBeNull();
      expect(await readdir(join(cacheDirectory, 'backends'))).toEqual([]);
      expect(await readdir(join(cacheDirectory, 'downloads'))).toEqual(['wheel']);
    },
  );

  it('compiles only the ops when an installation lacks them', async () => {
    const cacheDirectory = await temporaryDirectory();
    const steps = new FakeSteps();
    const { directory } = await installWith(steps, cpu, { cacheDirectory });
    await rm(join(directory, 'ops'));
    await installWith(steps, cpu, { cacheDirectory });
    expect(steps.counts).toEqual({ download: 1, unpack: 1, compile: 1, test: 1, compileOps: 2 });
  });

  it('installs without the ops, and reports that, when they do not compile', async () => {
    const cacheDirectory = await temporaryDirectory();
    const steps = new FakeSteps();
    steps.failAt = 'compileOps';
    const messages: string[] = [];
    await installWith(steps, cpu, { cacheDirectory, onProgress: ({ message }) => messages.push(message) });
    expect(messages).toContain('compileOps failed');
    expect(await findInstallation(cacheDirectory, cpu)).not.toBeNull();
  });

  it('lets one of several processes install, and the others wait for it', async () => {
    const cacheDirectory = await temporaryDirectory();
    const steps = new FakeSteps();
    const installations = await Promise.all([1, 2, 3].map(() => installWith(steps, cpu, { cacheDirectory })));
    expect(steps.counts.compile).toBe(1);
    expect(new Set(installations.map(({ directory }) => directory)).size).toBe(1);
  });

  it('installs the variants side by side', async () => {
    const cacheDirectory = await temporaryDirectory();
    await installWith(new FakeSteps(), cpu, { cacheDirectory });
    await installWith(new FakeSteps(), { ...cpu, variant: 'cuda' }, { cacheDirectory }).catch(
      (error: unknown) => {
        // A CUDA build needs 12 GB, which a test machine may not have.
        expect(error).toMatchObject({ code: 'BACKEND_NOT_INSTALLABLE' });
      },
    );
    expect(await findInstallation(cacheDirectory, cpu)).not.toBeNull();
  });

  it('installs versions side by side, each once', async () => {
    const cacheDirectory = await temporaryDirectory();
    const steps = new FakeSteps();
    for (const version of ['2.19.1', '2.21.0', '2.19.1'] as const)
      await installWith(steps, { version, variant: 'cpu' }, { cacheDirectory });
    expect(steps.counts.compile).toBe(2);
    const installed = await findInstallations(cacheDirectory, 'cpu');
    expect(installed.map(({ manifest }) => manifest.tensorflowVersion)).toEqual(['2.21.0', '2.19.1']);
    expect(new Set(installed.map(({ directory }) => directory)).size).toBe(2);
    expect(await findInstallation(cacheDirectory, { version: '2.20.0', variant: 'cpu' })).toBeNull();
  });

  it('removes the directory of a killed build', async () => {
    const cacheDirectory = await temporaryDirectory();
    await mkdir(join(cacheDirectory, 'backends', '.building-killed'), { recursive: true });
    await installWith(new FakeSteps(), cpu, { cacheDirectory });
    const left = await readdir(join(cacheDirectory, 'backends'));
    expect(left.filter((name) => name.startsWith('.building-'))).toEqual([]);
  });

  it('installs again over an installation that lost a file', async () => {
    const cacheDirectory = await temporaryDirectory();
    const { bindingPath } = await installWith(new FakeSteps(), cpu, { cacheDirectory });
    await writeFile(bindingPath, 'truncated?');
    expect(await findInstallation(cacheDirectory, cpu)).toBeNull();
    const repaired = await installWith(new FakeSteps(), cpu, { cacheDirectory });
    expect(await findDamage(repaired)).toBeNull();
  });

  it('names the first file whose content has changed', async () => {
    const cacheDirectory = await temporaryDirectory();
    const installed = await installWith(new FakeSteps(), cpu, { cacheDirectory });
    await writeFile(installed.bindingPath, 'BINDING');
    expect(await findDamage(installed)).toContain(`${BINDING_FILE} has checksum`);
  });

  it('reports progress that never decreases and ends at 1', async () => {
    const cacheDirectory = await temporaryDirectory();
    const reports: InstallProgress[] = [];
    await installWith(new FakeSteps(), cpu, {
      cacheDirectory,
      onProgress: (report) => reports.push(report),
    });
    const fractions = reports.map(({ fraction }) => fraction);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(reports.at(-1)).toMatchObject({ stage: 'installed', fraction: 1 });
    const stages = [...new Set(reports.map(({ stage }) => stage))];
    expect(stages).toEqual(['checking', 'downloading', 'compiling', 'testing', 'installed']);
  });

  it('refuses a cache directory that cannot be made, in one sentence', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const attempt = installWith(new FakeSteps(), cpu, { cacheDirectory: file });
    await expect(attempt).rejects.toThrow(
      /^The fast backend can't be installed: the cache directory can't be made/,
    );
  });

  it('removes everything it installed', async () => {
    const cacheDirectory = await temporaryDirectory();
    await installWith(new FakeSteps(), cpu, { cacheDirectory });
    expect(await removeBackend({ cacheDirectory })).toHaveLength(1);
    expect(await readdir(cacheDirectory)).toEqual([]);
    expect(await removeBackend({ cacheDirectory })).toEqual([]);
  });

  it('removes one version and leaves the others', async () => {
    const cacheDirectory = await temporaryDirectory();
    const older: TensorflowBuild = { version: '2.20.0', variant: 'cpu' };
    const kept = await installWith(new FakeSteps(), cpu, { cacheDirectory });
    const { directory } = await installWith(new FakeSteps(), older, { cacheDirectory });
    expect(await removeBackend({ cacheDirectory, version: '2.20.0' })).toEqual([basename(directory)]);
    expect(await findInstallation(cacheDirectory, older)).toBeNull();
    expect(await findInstallation(cacheDirectory, cpu)).toEqual(kept);
    expect(await removeBackend({ cacheDirectory, version: '2.19.1' })).toEqual([]);
  });
});
