import { useCallback } from 'react';
import {
  createSearchParams,
  type NavigateOptions,
  type URLSearchParamsInit,
  useLocation,
  useNavigate,
  useSearchParams,
} from 'react-router';
import { openedRun } from './saved-run';
import { MOMENT_FIELD, momentIn, withMoment } from './moment';

/** The moment that the page shows, as `?asOf=` of the API takes it; null for now. For code outside of components. */
export function shownMoment(): string | null {
  const saved = openedRun();
  if (saved !== null) return saved.savedAt;
  return typeof location === 'undefined' ? null : momentIn(new URLSearchParams(location.search));
}

/** The moment that the page shows: the one that its address names, or when it was saved; null for now. */
export function useShownMoment(): string | null {
  const named = useNamedMoment();
  return openedRun()?.savedAt ?? named;
}

/** The moment that the address of the page names, which links carry on; null for none. */
export function useNamedMoment(): string | null {
  return momentIn(new URLSearchParams(useLocation().search));
}

/** Shows another moment on this page. The back button leaves an earlier moment in one step, however many were looked at. */
export function useShowMoment(): (moment: string | null) => void {
  const shown = useNamedMoment();
  const [, setSearch] = useSearchParams();
  return (moment) => {
    if (moment === shown) return;
    setSearch(
      (search) => {
        if (moment === null) search.delete(MOMENT_FIELD);
        else search.set(MOMENT_FIELD, moment);
        return search;
      },
      { replace: shown !== null && moment !== null },
    );
  };
}

/** The query of the address, and a function that replaces it except for the moment. */
export function useSearch() {
  const [search, setSearch] = useSearchParams();
  const replace = (
    fields: URLSearchParamsInit | ((current: URLSearchParams) => URLSearchParamsInit),
    options?: NavigateOptions,
  ): void => {
    setSearch((current) => {
      const moment = momentIn(current);
      const next = createSearchParams(typeof fields === 'function' ? fields(current) : fields);
      if (moment !== null) next.set(MOMENT_FIELD, moment);
      return next;
    }, atOnce(options));
  };
  return [search, replace] as const;
}

/**
 * A change of the address that is drawn at once, so that a control shows what was chosen; drawn as a transition, it would show its former state until
 * all that follows from it is drawn.
 */
export function atOnce(options?: NavigateOptions): NavigateOptions {
  return { ...options, flushSync: true };
}

/** Opens a page at the same moment. */
export function useOpenPage(): (address: string) => void {
  const navigate = useNavigate();
  const moment = useNamedMoment();
  return useCallback((address) => void navigate(withMoment(address, moment)), [navigate, moment]);
}
