import { createHashRouter, redirect } from 'react-router';
import { EpisodePage } from '../pages/episode-page';
import { EpisodesPage } from '../pages/episodes-page';
import { PageCrash } from '../pages/not-found-page';
import { RecipePage } from '../pages/recipe-page';
import { RunLayout } from '../pages/run-layout';
import { RunMetricsPage } from '../pages/run-metrics-page';
import { RunOverviewPage } from '../pages/run-overview-page';
import { UpdatePage } from '../pages/update-page';
import { UpdatesPage } from '../pages/updates-page';
import { SavedFrame } from './saved-frame';
import type { SavedRun } from '../as-of/saved-run';

/** The pages of a saved run, at the addresses that they have in the dashboard, behind the `#` of a file's address. */
export function createSavedRouter(run: SavedRun) {
  return createHashRouter([
    {
      element: <SavedFrame run={run} />,
      errorElement: <PageCrash />,
      children: [
        {
          path: 'runs/:runId',
          element: <RunLayout />,
          children: [
            { index: true, element: <RunOverviewPage /> },
            { path: 'metrics', element: <RunMetricsPage /> },
            { path: 'episodes', element: <EpisodesPage /> },
            { path: 'episodes/:episodeId', element: <EpisodePage /> },
            { path: 'updates', element: <UpdatesPage /> },
            { path: 'updates/:updateNumber', element: <UpdatePage /> },
            { path: 'recipe', element: <RecipePage /> },
          ],
        },
        { path: '*', loader: () => redirect(`/runs/${run.runId}`) },
      ],
    },
  ]);
}
