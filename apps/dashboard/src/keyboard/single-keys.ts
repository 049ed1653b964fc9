import { useSyncExternalStore } from 'react';

const STORAGE_KEY = 'retrace.keys';
const OFF = 'off';
const listeners = new Set<() => void>();
/** Also where the browser blocks storage; then the choice lasts until the page is closed. */
let isOn = readChoice();

function readChoice(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== OFF;
  } catch {
    return true;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether keys without modifiers do anything. People who dictate turn them off, since a spoken word would press many (WCAG 2.1.4). */
export function singleKeysAreOn(): boolean {
  return isOn;
}

/** Turns keys without modifiers on or off, in this browser. */
export function setSingleKeys(on: boolean): void {
  isOn = on;
  try {
    if (on) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, OFF);
  } catch {
    // The choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(subscribe, singleKeysAreOn);
}
