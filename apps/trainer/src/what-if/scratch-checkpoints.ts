import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFiles, PolicyError, type FileRef } from '@retrace/policy';

type OpenedFile = Awaited<ReturnType<CheckpointFiles['open']>>;

/** Checkpoint files that can be read as those of a run, while new ones are written to a temporary directory. */
export class ScratchCheckpoints extends CheckpointFiles {
  private constructor(
    private readonly base: CheckpointFiles,
    private readonly scratch: string,
  ) {
    super(scratch);
  }

  static async over(base: CheckpointFiles): Promise<ScratchCheckpoints> {
    return new ScratchCheckpoints(base, await mkdtemp(join(tmpdir(), 'retrace-scratch-')));
  }

  override read(ref: FileRef): Promise<Uint8Array> {
    return this.base.read(ref).catch(this.ifMissing(() => super.read(ref)));
  }

  override open(ref: FileRef): Promise<OpenedFile> {
    return this.base.open(ref).catch(this.ifMissing(() => super.open(ref)));
  }

  override locate(ref: FileRef): Promise<string> {
    return this.base.locate(ref).catch(this.ifMissing(() => super.locate(ref)));
  }

  /** Lists the files of the run only. */
  override list(): Promise<FileRef[]> {
    return this.base.list();
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
  }

  private ifMissing<T>(read: () => Promise<T>): (error: unknown) => Promise<T> {
    return (error) => {
      if (error instanceof PolicyError && error.code === 'CHECKPOINT_MISSING') return read();
      throw error;
    };
  }
}
