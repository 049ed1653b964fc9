import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'dark' | 'light';

const STORAGE_KEY = 'retrace.theme';
const listeners = new Set<() => void>();
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  systemIsDark.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    systemIsDark.removeEventListener('change', listener);
  };
}

function currentChoice(): ThemeChoice {
  const theme = document.documentElement.dataset.theme;
  return theme === 'dark' || theme === 'light' ? theme : 'system';
}

function shownTheme(): 'dark' | 'light' {
  const choice = currentChoice();
  if (choice !== 'system') return choice;
  return systemIsDark.matches ? 'dark' : 'light';
}

function choose(choice: ThemeChoice): void {
  if (choice === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  try {
    if (choice === 'system') localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, choice);
  } catch {
    // The browser may block storage; then the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

interface Theme {
  readonly choice: ThemeChoice;
  /** The theme on the screen. */
  readonly shown: 'dark' | 'light';
  choose(choice: ThemeChoice): void;
}

/** The theme, and a function to change it. The choice is kept in the browser's storage. */
export function useTheme(): Theme {
  const choice = useSyncExternalStore(subscribe, currentChoice);
  const shown = useSyncExternalStore(subscribe, shownTheme);
  return { choice, shown, choose };
}
