import type { CheckpointRecipe } from '@retrace/config';
import type { CheckpointFiles } from '@retrace/policy';
import type { CommittedState, RunState } from '@retrace/trajectory';

/**
 * Removes optimizer states that no resume needs and the recipe does not keep: all but those of the newest `keepLast`
 * updates and of every `keepEvery`-th. Weights stay, for every version.
 *
 * Which files are removed follows from the log only, so that a trainer removes those that its predecessors left. Files are named by their
 * content: one that any run still keeps, under whatever update, stays.
 */
export class CheckpointRetention {
  /** This process has checked the run's commits before this one; a new process starts from the first. */
  private nextCommit = 0;

  constructor(
    private readonly checkpoints: CheckpointFiles,
    private readonly runId: string,
  ) {}

  /** @param runs every run of the log, as its committed control events tell it */
  async apply(runs: readonly RunState[]): Promise<void> {
    const run = runs.find(({ runId }) => runId === this.runId);
    const outdated = run ? droppedBy(run, this.nextCommit) : [];
    if (!run || outdated.length === 0) return;
    const kept = new Set(runs.flatMap(keptBy).map(({ optimizer }) => optimizer.sha256));
    for (const { optimizer } of outdated) {
      if (!kept.has(optimizer.sha256)) await this.checkpoints.remove(optimizer.sha256);
    }
    this.nextCommit = run.updates.commits.indexOf(outdated[outdated.length - 1]) + 1;
  }
}

/** All of a run whose recipe says nothing of checkpoints. */
function keptBy(run: RunState): readonly CommittedState[] {
  const { commits } = run.updates;
  const isKept = keeps(run);
  return isKept === null ? commits : commits.filter(isKept);
}

function droppedBy(run: RunState, from: number): readonly CommittedState[] {
  const isKept = keeps(run);
  if (isKept === null) return [];
  return run.updates.commits.slice(from).filter((commit, i) => !isKept(commit, from + i));
}

function keeps(run: RunState): ((commit: CommittedState, position: number) => boolean) | null {
  const { checkpoint } = run.started.recipe as { readonly checkpoint?: Partial<CheckpointRecipe> };
  const { keepLast, keepEvery } = checkpoint ?? {};
  if (keepLast === undefined || keepEvery === undefined) return null;
  const firstOfLast = run.updates.commits.length - keepLast;
  return ({ updateNumber }, position) => position >= firstOfLast || updateNumber % keepEvery === 0;
}
