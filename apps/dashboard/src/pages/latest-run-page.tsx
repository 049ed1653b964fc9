import { Navigate } from 'react-router';
import { useRuns } from '../api/queries';
import { EmptyState } from '../components/notice';
import { useTitle } from '../components/use-title';

/** Opens the newest run, as soon as there is one. */
export function LatestRunPage() {
  useTitle('Starting');
  const newest = useRuns().data?.pages[0].items[0];
  if (newest) return <Navigate to={`/runs/${newest.runId}`} replace />;
  return <EmptyState title="Waiting for the first run">It opens here when it starts.</EmptyState>;
}
