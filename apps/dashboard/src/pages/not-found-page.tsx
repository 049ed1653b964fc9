import { useRouteError } from 'react-router';
import { Link } from '../components/link';
import { EmptyState, ErrorState } from '../components/notice';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';

/** Page for an address that no route matches. */
export function NotFoundPage() {
  useTitle('Not found');
  return (
    <EmptyState heading="h1" title="Page not found">
      <Link className={table.link} to="/">
        Go to the list of runs
      </Link>
    </EmptyState>
  );
}

/** Shown in place of a page that threw an error. */
export function PageCrash() {
  const error = useRouteError();
  return (
    <ErrorState
      heading="h1"
      error={error instanceof Error ? error : new Error(String(error))}
      onRetry={() => {
        window.location.reload();
      }}
    />
  );
}
