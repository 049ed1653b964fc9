import type { CheckpointRecipe } from '@retrace/config';
import type { CheckpointFiles } from '@retrace/policy';

/**
 * Removes optimizer states that no resume needs and the recipe does not keep: all but the newest `keepLast` and every
 * `keepEvery`-th. Weights stay, for every version.
 */
export class CheckpointRetention {
  private readonly recent: { readonly updateNumber: number; readonly sha256: string }[] = [];

  constructor(
    private readonly checkpoints: CheckpointFiles,
    private readonly recipe: CheckpointRecipe,
  ) {}

  /** Call after the update's commit is acknowledged. */
  async committed(updateNumber: number, optimizerSha256: string): Promise<void> {
    this.recent.push({ updateNumber, sha256: optimizerSha256 });
    if (this.recent.length <= this.recipe.keepLast) return;
    const oldest = this.recent.shift();
    if (oldest && oldest.updateNumber % this.recipe.keepEvery !== 0)
      await this.checkpoints.remove(oldest.sha256);
  }
}
