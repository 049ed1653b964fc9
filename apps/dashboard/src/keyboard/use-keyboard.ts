import { useEffect, useRef } from 'react';
import { useMatch } from 'react-router';
import { useOpenPage } from '../as-of/shown-moment';
import { focusSearch, isTyping, moveFocus, neighbourLink } from './key-stops';
import { addressOfTarget, type KeyAction, NO_KEYS, pressChord, pressKey } from './keys';
import { singleKeysAreOn } from './single-keys';

interface KeyboardOptions {
  /** False: the page shows only the login form, and no key does anything. */
  readonly isEnabled: boolean;
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

/** Carries out the keys of `KEYS` while the page has the focus, except in fields, editors and dialogs. */
export function useKeyboard({ isEnabled, onHelp, onPalette }: KeyboardOptions): void {
  const runId = useMatch('/runs/:runId/*')?.params.runId;
  const openPage = useOpenPage();
  const pressed = useRef(NO_KEYS);
  useEffect(() => {
    if (!isEnabled) return undefined;
    const perform = (action: KeyAction): boolean => {
      if (action.kind === 'native') return false;
      if (action.kind === 'move') moveFocus(action.by);
      else if (action.kind === 'neighbour') neighbourLink(action.rel)?.click();
      else if (action.kind === 'search') return focusSearch();
      else if (action.kind === 'help') onHelp();
      else if (action.kind === 'palette') onPalette();
      else if (action.kind === 'goTo') {
        const address = addressOfTarget(action.target, runId);
        if (address !== null) openPage(address);
      }
      return true;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      const action = actionOf(event);
      if (action !== null && perform(action)) event.preventDefault();
    };
    const actionOf = (event: KeyboardEvent): KeyAction | null => {
      const { key, timeStamp, target, ctrlKey, metaKey, altKey } = event;
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return null;
      if ((ctrlKey || metaKey) && !altKey) return pressChord(key);
      if (altKey || !singleKeysAreOn() || isTyping(target) || key === 'Shift') return null;
      const next = pressKey(pressed.current, key, timeStamp);
      pressed.current = next.pressed;
      return next.action;
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
    };
  }, [isEnabled, onHelp, onPalette, openPage, runId]);
}
