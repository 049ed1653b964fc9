import { createBrowserRouter, redirect } from 'react-router';
import { Loading } from './components/notice';
import { Shell } from './components/shell';
import { AlarmsPage } from './pages/alarms-page';
import { DatasetPage } from './pages/dataset-page';
import { DatasetsPage } from './pages/datasets-page';
import { EpisodePage } from './pages/episode-page';
import { EpisodesPage } from './pages/episodes-page';
import { LatestRunPage } from './pages/latest-run-page';
import { NotFoundPage, PageCrash } from './pages/not-found-page';
import { PlayPage } from './pages/play-page';
import { PlaysPage } from './pages/plays-page';
import { RecipePage } from './pages/recipe-page';
import { RunLayout } from './pages/run-layout';
import { RunsPage } from './pages/runs-page';
import { SideBySidePage } from './pages/side-by-side-page';
import { UpdatePage } from './pages/update-page';
import { UpdatesPage } from './pages/updates-page';
import { WhatIfPage } from './pages/what-if-page';
import { WhatIfsPage } from './pages/what-ifs-page';

/** The pages by their addresses. */
export function createRouter() {
  return createBrowserRouter([
    {
      element: <Shell />,
      errorElement: <PageCrash />,
      hydrateFallbackElement: <Loading label="Loading the page" />,
      children: [
        { index: true, element: <RunsPage /> },
        { path: 'runs', loader: ({ request }) => redirect(`/${new URL(request.url).search}`) },
        { path: 'live', element: <LatestRunPage /> },
        {
          path: 'runs/:runId',
          element: <RunLayout />,
          children: [
            {
              index: true,
              // Only this page needs the chart library.
              lazy: async () => ({ Component: (await import('./pages/run-overview-page')).RunOverviewPage }),
            },
            {
              path: 'metrics',
              lazy: async () => ({ Component: (await import('./pages/run-metrics-page')).RunMetricsPage }),
            },
            { path: 'episodes', element: <EpisodesPage /> },
            { path: 'episodes/:episodeId', element: <EpisodePage /> },
            { path: 'side-by-side', element: <SideBySidePage /> },
            { path: 'updates', element: <UpdatesPage /> },
            { path: 'updates/:updateNumber', element: <UpdatePage /> },
            { path: 'what-ifs', element: <WhatIfsPage /> },
            { path: 'what-ifs/:whatIfId', element: <WhatIfPage /> },
            {
              path: 'rewards',
              lazy: async () => ({ Component: (await import('./pages/run-rewards-page')).RunRewardsPage }),
            },
            { path: 'recipe', element: <RecipePage /> },
          ],
        },
        { path: 'alarms', element: <AlarmsPage /> },
        { path: 'plays', element: <PlaysPage /> },
        { path: 'plays/:playId', element: <PlayPage /> },
        { path: 'datasets', element: <DatasetsPage /> },
        { path: 'datasets/:name', element: <DatasetPage /> },
        {
          path: 'sql',
          // Only this page needs the editor, the largest part of the dashboard.
          lazy: async () => ({ Component: (await import('./pages/sql-page')).SqlPage }),
        },
        {
          path: 'sql/notebooks',
          lazy: async () => ({ Component: (await import('./pages/notebooks-page')).NotebooksPage }),
        },
        {
          path: 'sql/notebooks/:notebookId',
          lazy: async () => ({ Component: (await import('./pages/notebook-page')).NotebookPage }),
        },
        { path: '*', element: <NotFoundPage /> },
      ],
    },
  ]);
}
