/* global document, localStorage */
// Runs before the first paint, so that a page never flashes in the other theme. Kept out of the page: the CSP allows no inline script.
try {
  const theme = localStorage.getItem('retrace.theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked; the system's theme is used then.
}
