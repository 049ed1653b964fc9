import { useEffect, useSyncExternalStore } from 'react';
import { useNavigationType, useSearchParams } from 'react-router';

/** Field of the address that keeps the moment. */
const FIELD = 'asOf';

let shown = typeof location === 'undefined' ? null : momentIn(new URLSearchParams(location.search));
const listeners = new Set<() => void>();

function momentIn(search: URLSearchParams): string | null {
  return search.get(FIELD) ?? null;
}

/** The moment that the pages show, as `?asOf=` of the API takes it; null for now. */
export function shownMoment(): string | null {
  return shown;
}

function change(moment: string | null): void {
  if (moment === shown) return;
  shown = moment;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The moment that the pages show. */
export function useShownMoment(): string | null {
  return useSyncExternalStore(listen, shownMoment);
}

/** Keeps the moment in the address: links to other pages leave it there, and the back button returns to the one before. */
export function useMomentInAddress(): (moment: string | null) => void {
  const [search, setSearch] = useSearchParams();
  const isBackOrForward = useNavigationType() === 'POP';
  const inAddress = momentIn(search);
  const moment = useShownMoment();

  const write = (next: string | null, options: { readonly replace: boolean }): void => {
    setSearch((current) => {
      if (next === null) current.delete(FIELD);
      else current.set(FIELD, next);
      return current;
    }, options);
  };
  useEffect(() => {
    if (inAddress === moment) return;
    if (inAddress !== null || isBackOrForward) change(inAddress);
    else write(moment, { replace: true });
    // Only a change of the address is to be followed: a change of the moment writes it.
  }, [search]);

  return (next) => {
    // The back button leaves an earlier moment in one step, however many were looked at.
    const replace = shown !== null && next !== null;
    change(next);
    write(next, { replace });
  };
}
