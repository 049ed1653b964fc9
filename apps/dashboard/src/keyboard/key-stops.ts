/** Places that `j` and `k` go through: rows of tables, and the headings of steps. */
const STOPS = '#content tbody tr, #content [data-key-stop]';
const IN_ROW = 'a[href]';

/** Whether keys belong to what has the focus: a field, a list of choices, a menu, or an editor. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input:not([type="radio"]), select, textarea, [role="textbox"], [role="menu"]') !== null)
  );
}

/** The stop before or after the one that has the focus; without one, the first or the last. Null at the end. */
export function findNeighbour<Stop>(
  stops: readonly Stop[],
  current: Stop | undefined,
  by: 1 | -1,
): Stop | null {
  const place = current === undefined ? -1 : stops.indexOf(current);
  if (place === -1) return stops.at(by === 1 ? 0 : -1) ?? null;
  return stops[place + by] ?? null;
}

/** Moves the focus to the link of the next row or to the heading of the next step, and brings it into view. */
export function moveFocus(by: 1 | -1): void {
  const stops = [...document.querySelectorAll<HTMLElement>(STOPS)].filter(
    (stop) => findFocusTarget(stop) !== null && stop.checkVisibility(),
  );
  const current = stops.find((stop) => stop.contains(document.activeElement));
  const next = findNeighbour(stops, current ?? stopAround(stops), by);
  if (next === null) return;
  findFocusTarget(next)?.focus({ preventScroll: true });
  // A step may be higher than the window.
  next.scrollIntoView({ block: next.matches('tr') ? 'nearest' : 'start' });
}

/** The stop whose card holds the focus, as where a token of a step has it. */
function stopAround(stops: readonly HTMLElement[]): HTMLElement | undefined {
  const card = document.activeElement?.closest('li:has([data-key-stop])');
  return stops.find((stop) => card?.contains(stop));
}

/** Rows without a link open nothing, and are passed over. */
function findFocusTarget(stop: HTMLElement): HTMLElement | null {
  return stop.matches('tr') ? stop.querySelector<HTMLElement>(IN_ROW) : stop;
}

/** Puts the focus into the first search field of the page; false where it has none. */
export function focusSearch(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>('#content input[type="search"]')].find(
    (one) => one.checkVisibility(),
  );
  field?.focus();
  field?.select();
  return field !== undefined;
}

/** The link to the page before or after this one; null where there is none. */
export function neighbourLink(rel: 'prev' | 'next'): HTMLAnchorElement | null {
  return document.querySelector<HTMLAnchorElement>(`#content a[rel="${rel}"]`);
}
