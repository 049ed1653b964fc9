import { writeFileSync } from 'node:fs';
import { requestHash, type Recipe } from '@retrace/config';
import { isProcessAlive, readJson, type DataDirectory } from '@retrace/process';
import type { FileLock } from '@retrace/spool/file-lock';
import { CliError } from '../cli-error.js';
import { acquireLock, lockFiles } from './lock.js';

/** Long enough for the roles of a killed command to notice that and end. */
const WAIT_FOR_HOLDER_MS = 30_000;

/** Who trains a recipe: the content of the lock's file. */
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
    private readonly lock: FileLock,
    private readonly path: string,
  ) {}

  /** @throws CliError `RUN_ACTIVE` where another process trains the recipe */
  static async acquire(directory: DataDirectory, recipe: Recipe): Promise<RecipeLock> {
    const path = lockFiles(directory).recipe(requestHash(recipe));
    const refuseIfTrained = () => {
      // Null where there is none, or it is being written.
      const trainer = readJson(path) as Trainer | null;
      if (trainer !== null && isProcessAlive(trainer.pid)) throw active(recipe, trainer);
    };
    const lock = await acquireLock(path, {
      waitMs: WAIT_FOR_HOLDER_MS,
      shownAs: directory.root,
      onWait: refuseIfTrained,
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
    writeFileSync(this.path, JSON.stringify(trainer));
  }

  release(): void {
    this.lock.release();
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
