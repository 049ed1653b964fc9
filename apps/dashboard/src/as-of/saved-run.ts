import type { EpisodeDetail } from '../api-types/schema';

/** A run as `retrace export --html` writes it into a page (`apps/cli/src/commands/export/saved-run.ts`). */
export interface SavedRun {
  readonly runId: string;
  /** ISO 8601. */
  readonly savedAt: string;
  /** Of Retrace. */
  readonly version: string;
  readonly contents: {
    readonly numEpisodesOfRun: number;
    /** Updates with their episodes, distributions and lineage: the newest. */
    readonly numDetailedUpdates: number;
    readonly hasAllUpdates: boolean;
    /** Episodes that were to be in the page and did not fit, or were deleted before they were read. */
    readonly numLeftOut: number;
  };
  /** Whole, with all steps, the newest first. */
  readonly episodes: readonly EpisodeDetail[];
  /** Answers of the API by path, without query. */
  readonly answers: Readonly<Record<string, unknown>>;
}

let opened: SavedRun | null = null;

/** Has all pages show this run, from now on. */
export function openSavedRun(run: SavedRun): void {
  opened = run;
}

/** Whether the page is a saved one without the answer to this path of the API. */
export function isLeftOut(path: string): boolean {
  return opened !== null && !Object.hasOwn(opened.answers, path);
}

/** How many items a saved page has of a list of the API; null where it has all, and where a server answers. */
export function countKept(path: string, run: SavedRun | null = opened): number | null {
  const list = run?.answers[path] as { items: readonly unknown[]; nextCursor: string | null } | undefined;
  return typeof list?.nextCursor === 'string' ? list.items.length : null;
}

/** The run that this page was saved with; null where a server answers. */
export function openedRun(): SavedRun | null {
  return opened;
}
