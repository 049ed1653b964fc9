import { useNow } from './use-now';
import { momentMs } from '../as-of/moment';
import { useShownMoment } from '../as-of/shown-moment';

/** The time of what the page shows, in ms since the Unix epoch: now, updated every `intervalMs`, or the earlier time; now also for an event. */
export function useShownTime(intervalMs: number): number {
  const now = useNow(intervalMs);
  const shownMs = momentMs(useShownMoment() ?? '');
  return Number.isNaN(shownMs) ? now : shownMs;
}
