/* global document, localStorage */
// Runs before the first paint, so that the page does not flash in the wrong theme. A file of its own: the content security policy
// forbids inline scripts.
try {
  const theme = localStorage.getItem('retrace.theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // The browser may block storage; then the system's theme is used.
}
