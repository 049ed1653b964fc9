import { Navigate } from 'react-router';
import { withMoment } from '../as-of/moment';
import { useShownMoment } from '../as-of/shown-moment';
import { useRuns } from '../api/queries';
import { EmptyState } from '../components/notice';
import { useTitle } from '../components/use-title';

/** Opens the run that trains, or else the newest one, as soon as there is one: the calls of agents are a newer run beside the one that trains. */
export function LatestRunPage() {
  useTitle('Starting');
  const runs = useRuns({ archived: 'all' }).data?.pages[0].items ?? [];
  const training = runs.find(({ kind, status }) => kind === 'trained' && status === 'running');
  const newest = training ?? runs.at(0);
  const moment = useShownMoment();
  if (newest) return <Navigate to={withMoment(`/runs/${newest.runId}`, moment)} replace />;
  return (
    <EmptyState heading="h1" title="Waiting for the first run">
      It opens here when it starts.
    </EmptyState>
  );
}
