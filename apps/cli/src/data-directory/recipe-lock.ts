import { rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestHash, type Recipe } from '@retrace/config';
import { isProcessAlive, readJson, type DataDirectory } from '@retrace/process';
import { CliError } from '../cli-error.js';
import { lockDirectory } from './hold-data-directory.js';
import { DataDirectoryLock } from './lock.js';

/** Long enough for the roles of a killed command to notice that and end. */
const WAIT_FOR_HOLDER_MS = 30_000;

/** Who trains a recipe. */
interface Trainer {
  readonly pid: number;
  /** '' until the run has begun. */
  readonly runId: string;
}

/**
 * Lock on the runs of one recipe in a data directory: whoever trains one of them has it, so that a second command with the same recipe, seed and length
 * neither resumes that run meanwhile nor begins it twice.
 */
export class RecipeLock {
  private constructor(
    private readonly lock: DataDirectoryLock,
    private readonly path: string,
  ) {}

  /** @throws CliError `RUN_ACTIVE` where another process trains the recipe */
  static async acquire(directory: DataDirectory, recipe: Recipe): Promise<RecipeLock> {
    const path = join(lockDirectory(directory), `recipe-${requestHash(recipe)}`);
    const refuseIfTrained = () => {
      // Null where there is none, or it is being written.
      const trainer = readJson(trainerFile(path)) as Trainer | null;
      if (trainer !== null && isProcessAlive(trainer.pid)) throw active(recipe, trainer);
    };
    const lock = await DataDirectoryLock.acquire(path, {
      waitMs: WAIT_FOR_HOLDER_MS,
      shownAs: directory.root,
      onWait: refuseIfTrained,
    }).catch((error: unknown) => {
      removeIfUnused(path);
      throw error;
    });
    const own = new RecipeLock(lock, path);
    try {
      own.nameRun('');
    } catch (error) {
      own.release();
      throw error;
    }
    return own;
  }

  /** For the processes of the run, which keep the lock while one of them lives. */
  get fileDescriptor(): number {
    return this.lock.fileDescriptor;
  }

  /** Says which run it is, for those who are refused. */
  nameRun(runId: string): void {
    const trainer: Trainer = { pid: process.pid, runId };
    writeFileSync(trainerFile(this.path), JSON.stringify(trainer), { mode: 0o600 });
  }

  release(): void {
    rmSync(trainerFile(this.path), { force: true });
    this.lock.release();
    removeIfUnused(this.path);
  }
}

function trainerFile(path: string): string {
  return join(path, 'trainer.json');
}

/** Removes the lock's directory. The system does so only while it is empty, and whoever holds or claims the lock has a file in it. */
function removeIfUnused(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function active({ name }: Recipe, { pid, runId }: Trainer): CliError {
  const run = runId === '' ? `a run of ${name} with this seed` : `run ${runId} of ${name} with this seed`;
  return new CliError(
    'RUN_ACTIVE',
    `${run} is being trained by process ${pid}; wait for its end, stop that process to go on with the run here, or begin another run with --seed`,
    { retriable: true },
  );
}
