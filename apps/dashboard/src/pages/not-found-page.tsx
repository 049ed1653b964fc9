import { Link, useRouteError } from 'react-router';
import { EmptyState, ErrorState } from '../components/notice';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';

export function NotFoundPage() {
  useTitle('Not found');
  return (
    <EmptyState title="There is no such page">
      Go to{' '}
      <Link className={table.link} to="/">
        the runs
      </Link>
      .
    </EmptyState>
  );
}

/** What is shown instead of a page that threw. */
export function PageCrash() {
  const error = useRouteError();
  return (
    <ErrorState
      error={error instanceof Error ? error : new Error(String(error))}
      onRetry={() => {
        window.location.reload();
      }}
    />
  );
}
