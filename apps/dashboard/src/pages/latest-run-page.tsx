import { Navigate } from 'react-router';
import { withMoment } from '../as-of/moment';
import { useShownMoment } from '../as-of/shown-moment';
import { useRuns } from '../api/queries';
import { EmptyState } from '../components/notice';
import { useTitle } from '../components/use-title';

/** Opens the run that trains, or else the newest trained one, or else the newest, as soon as there is one: the calls of agents are a newer run beside those that train. */
export function LatestRunPage() {
  useTitle('Starting');
  const runs = useRuns({ archived: 'all' }).data?.pages[0].items ?? [];
  const trained = runs.filter(({ kind }) => kind === 'trained');
  const newest = trained.find(({ status }) => status === 'running') ?? trained.at(0) ?? runs.at(0);
  const moment = useShownMoment();
  if (newest) return <Navigate to={withMoment(`/runs/${newest.runId}`, moment)} replace />;
  return (
    <EmptyState heading="h1" title="Waiting for the first run">
      It opens here when it starts.
    </EmptyState>
  );
}
