import { Outlet } from 'react-router';
import shell from '../shell/shell.module.css';
import { ThemeSwitch } from '../components/theme-switch';
import { formatMoment } from '../format/times';
import page from '../components/page.module.css';
import { describeContents } from './describe-contents';
import type { SavedRun } from '../as-of/saved-run';

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
