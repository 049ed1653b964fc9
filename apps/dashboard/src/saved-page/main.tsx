import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import { api } from '../api/client';
import { createQueryClient } from '../api/queries';
import '../theme/theme.css';
import '../theme/base.css';
import { answerFromPage } from './answer-from-page';
import { createSavedRouter } from './saved-router';
import { openSavedRun, type SavedRun } from '../as-of/saved-run';

const root = document.getElementById('root');
const saved = document.getElementById('saved-run');
if (!root || !saved) throw new Error('the page has no element with id "root" or "saved-run"');

const run = JSON.parse(saved.textContent) as SavedRun;
openSavedRun(run);
api.use({ onRequest: ({ request }) => answerFromPage(run, request) });

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={createSavedRouter(run)} />
    </QueryClientProvider>
  </StrictMode>,
);
