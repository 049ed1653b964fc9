import type { RunDetail } from '../api-types/schema';

export interface RunPage {
  readonly label: string;
  /** Below the address of the run; empty for its overview. */
  readonly path: string;
}

/**
 * The pages that a run has, in the order of its tabs.
 *
 * @param isSaved whether the page was saved with its run, which has only the first ones
 */
export function pagesOfRun(
  { kind, policyVersion }: Pick<RunDetail, 'kind' | 'policyVersion'>,
  isSaved: boolean,
): readonly RunPage[] {
  const isTrained = kind === 'trained';
  // A recorded run has policies where a trainer outside records its updates.
  const hasUpdates = isTrained || policyVersion !== null;
  return [
    { label: 'Overview', path: '' },
    ...(hasUpdates ? [{ label: 'Metrics', path: 'metrics' }] : []),
    { label: 'Episodes', path: 'episodes' },
    ...(hasUpdates ? [{ label: 'Updates', path: 'updates' }] : []),
    ...(isSaved ? [] : [{ label: 'Rewards', path: 'rewards' }]),
    ...(isSaved || !isTrained ? [] : [{ label: 'What if', path: 'what-ifs' }]),
    ...(isTrained ? [{ label: 'Recipe', path: 'recipe' }] : []),
  ];
}

/** Whether a run has the page below its address. */
export function hasPage(run: Pick<RunDetail, 'kind' | 'policyVersion'>, path: string): boolean {
  return pagesOfRun(run, false).some((page) => page.path === path);
}
