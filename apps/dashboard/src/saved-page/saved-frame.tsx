import { Outlet } from 'react-router';
import shell from '../components/shell.module.css';
import { ThemeSwitch } from '../components/theme-switch';
import { formatCount } from '../format/numbers';
import { formatMoment } from '../format/times';
import page from '../pages/page.module.css';
import type { SavedRun } from './saved-run';

/** Frame of every page of a saved run: says when it was saved, and how much of the run is in it. */
export function SavedFrame({ run }: { readonly run: SavedRun }) {
  return (
    <>
      <header className={`${shell.top} ${shell.bar}`}>
        <span className={shell.brand}>Retrace</span>
        <span className={page.subtle}>saved {formatMoment(run.savedAt)}</span>
        <span className={shell.spacer} />
        <ThemeSwitch />
      </header>
      <main className={shell.content} id="content" tabIndex={-1}>
        <Outlet />
        <p className={`${page.subtle} ${page.more}`}>{describeContents(run)}</p>
      </main>
    </>
  );
}

/** Says in sentences how much of the run is in the page. */
export function describeContents({ episodes, contents, version }: SavedRun): string {
  const { numEpisodesOfRun, numDetailedUpdates, hasAllUpdates, numTooLarge } = contents;
  return [
    `Written by retrace export --html, version ${version}.`,
    episodes.length === numEpisodesOfRun
      ? `All ${formatCount(numEpisodesOfRun)} episodes of the run are in this page.`
      : `Of ${formatCount(numEpisodesOfRun)} episodes of the run, this page has ${formatCount(episodes.length)}: the newest of each split.`,
    ...(numTooLarge === 0 ? [] : [`${formatCount(numTooLarge)} more did not fit into it.`]),
    ...(hasAllUpdates ? [] : ['It lists the newest updates only.']),
    ...(numDetailedUpdates === 0
      ? []
      : [
          `The newest ${formatCount(numDetailedUpdates)} updates have their lineage, histograms and the episodes with the largest share.`,
        ]),
  ].join(' ');
}
