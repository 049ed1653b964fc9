import { createBrowserRouter, redirect, type RouteObject } from 'react-router';
import { Loading } from './components/notice';
import { Shell } from './shell/shell';
import { AlarmsPage } from './pages/alarms-page';
import { DatasetsPage } from './pages/datasets-page';
import { EpisodesPage } from './pages/episodes-page';
import { LatestRunPage } from './pages/latest-run-page';
import { NotFoundPage, PageCrash } from './pages/not-found-page';
import { PlaysPage } from './pages/plays-page';
import { RunLayout } from './pages/run-layout';
import { RunsPage } from './pages/runs-page';
import { UpdatesPage } from './pages/updates-page';

/** Below the address of a run. */
const PAGES_OF_RUN: RouteObject[] = [
  {
    index: true,
    lazy: async () => ({ Component: (await import('./pages/run-overview-page')).RunOverviewPage }),
  },
  {
    path: 'metrics',
    lazy: async () => ({ Component: (await import('./pages/run-metrics-page')).RunMetricsPage }),
  },
  { path: 'episodes', element: <EpisodesPage /> },
  {
    path: 'episodes/:episodeId',
    lazy: async () => ({ Component: (await import('./pages/episode-page')).EpisodePage }),
  },
  {
    path: 'side-by-side',
    lazy: async () => ({ Component: (await import('./pages/side-by-side-page')).SideBySidePage }),
  },
  { path: 'updates', element: <UpdatesPage /> },
  {
    path: 'updates/:updateNumber',
    lazy: async () => ({ Component: (await import('./pages/update-page')).UpdatePage }),
  },
  {
    path: 'what-ifs',
    lazy: async () => ({ Component: (await import('./pages/what-ifs-page')).WhatIfsPage }),
  },
  {
    path: 'what-ifs/:whatIfId',
    lazy: async () => ({ Component: (await import('./pages/what-if-page')).WhatIfPage }),
  },
  {
    path: 'rewards',
    lazy: async () => ({ Component: (await import('./pages/run-rewards-page')).RunRewardsPage }),
  },
  {
    path: 'recipe',
    lazy: async () => ({ Component: (await import('./pages/recipe-page')).RecipePage }),
  },
];

/** The pages by their addresses. Those that a visit begins with are in the first file; the others are loaded when they are opened. */
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
          children: PAGES_OF_RUN,
        },
        { path: 'alarms', element: <AlarmsPage /> },
        { path: 'plays', element: <PlaysPage /> },
        {
          path: 'plays/:playId',
          lazy: async () => ({ Component: (await import('./pages/play-page')).PlayPage }),
        },
        { path: 'datasets', element: <DatasetsPage /> },
        {
          path: 'datasets/:name',
          lazy: async () => ({ Component: (await import('./pages/dataset-page')).DatasetPage }),
        },
        {
          path: 'sql',
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
