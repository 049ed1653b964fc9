import { Navigate, useLocation } from 'react-router';

/** Replaces the part of an id in this page's address by the whole id, since everything below the page is named by it. */
export function RedirectToWholeId({ part, id }: { readonly part: string; readonly id: string }) {
  const { pathname, search, hash } = useLocation();
  const whole = pathname
    .split('/')
    .map((segment) => (segment === part ? id : segment))
    .join('/');
  return <Navigate to={{ pathname: whole, search, hash }} replace />;
}
