import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const MAC_APPLICATIONS = ['Chromium', 'Google Chrome', 'Microsoft Edge'].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

/**
 * Finds a Chromium on this machine for the page test: the one that RETRACE_BROWSER names, or the first one installed. Downloads
 * nothing.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {{ readonly path: string } | { readonly unavailable: string }} `unavailable` completes "skipped, because …".
 */
export function findBrowser(environment = process.env) {
  const named = environment.RETRACE_BROWSER;
  if (named)
    return canRun(named)
      ? { path: named }
      : { unavailable: `RETRACE_BROWSER is ${named}, which can't be run` };
  const directories = (environment.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  const places = directories.flatMap((directory) => COMMANDS.map((command) => join(directory, command)));
  const path = [...places, ...MAC_APPLICATIONS].find(canRun);
  if (path !== undefined) return { path };
  return {
    unavailable: `there is none of ${COMMANDS.join(', ')} on this machine; RETRACE_BROWSER may name one`,
  };
}

/** @param {string} path */
function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
