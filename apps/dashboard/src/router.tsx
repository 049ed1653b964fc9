import { createBrowserRouter, redirect, type RouteObject } from 'react-router';
import { Loading } from './components/notice';
import { Shell } from './shell/shell';
import { LatestRunPage } from './pages/latest-run-page';
import { NotFoundPage, PageCrash } from './pages/not-found-page';

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
  {
    path: 'episodes',
    lazy: async () => ({ Component: (await import('./pages/episodes-page')).EpisodesPage }),
  },
  {
    path: 'episodes/:episodeId',
    lazy: async () => ({ Component: (await import('./pages/episode-page')).EpisodePage }),
  },
  {
    path: 'side-by-side',
    lazy: async () => ({ Component: (await import('./pages/side-by-side-page')).SideBySidePage }),
  },
  {
    path: 'updates',
    lazy: async () => ({ Component: (await import('./pages/updates-page')).UpdatesPage }),
  },
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

/** The pages by their addresses. Each is loaded when it is opened. */
export function createRouter() {
  return createBrowserRouter([
    {
      element: <Shell />,
      errorElement: <PageCrash />,
      hydrateFallbackElement: <Loading label="Loading the page" />,
      children: [
        {
          index: true,
          lazy: async () => ({ Component: (await import('./pages/runs-page')).RunsPage }),
        },
        { path: 'runs', element: null, loader: ({ request }) => redirect(`/${new URL(request.url).search}`) },
        { path: 'live', element: <LatestRunPage /> },
        {
          path: 'runs/:runId',
          lazy: async () => ({ Component: (await import('./pages/run-layout')).RunLayout }),
          children: PAGES_OF_RUN,
        },
        {
          path: 'alarms',
          lazy: async () => ({ Component: (await import('./pages/alarms-page')).AlarmsPage }),
        },
        {
          path: 'plays',
          lazy: async () => ({ Component: (await import('./pages/plays-page')).PlaysPage }),
        },
        {
          path: 'plays/:playId',
          lazy: async () => ({ Component: (await import('./pages/play-page')).PlayPage }),
        },
        {
          path: 'datasets',
          lazy: async () => ({ Component: (await import('./pages/datasets-page')).DatasetsPage }),
        },
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
