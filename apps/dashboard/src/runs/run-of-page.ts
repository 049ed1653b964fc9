import { useOutletContext } from 'react-router';
import type { RunDetail } from '../api-types/schema';

/** The run whose layout a page is in. */
export function useRunOfPage(): RunDetail {
  return useOutletContext<RunDetail>();
}
