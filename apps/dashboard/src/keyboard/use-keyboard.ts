import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useMatch } from 'react-router';
import { keys } from '../api/queries';
import type { RunDetail } from '../api-types/schema';
import { useOpenPage } from '../as-of/shown-moment';
import { focusSearch, isTyping, moveFocus, neighbourLink } from './key-stops';
import { addressOfTarget, type KeyAction, NO_KEYS, pressChord, pressKey, readModifiers } from './keys';
import { singleKeysAreOn } from './single-keys';

const IS_MAC = typeof navigator !== 'undefined' && /^(Mac|iP)/.test(navigator.platform);
/** Keys that only choose what another one writes. */
const LEVEL_KEYS: ReadonlySet<string> = new Set(['Shift', 'AltGraph', 'Alt']);

interface KeyboardOptions {
  /** False: the page shows only the login form, and no key does anything. */
  readonly isEnabled: boolean;
  /** The dialog over the page that is shown or still loading, whose keys are its own. */
  readonly overlay: 'help' | 'palette' | null;
  readonly onHelp: () => void;
  /** Shows the palette, or closes it. */
  readonly onPalette: () => void;
}

/** Carries out the keys of `KEYS` while the page has the focus, except in fields, editors and dialogs. */
export function useKeyboard({ isEnabled, overlay, onHelp, onPalette }: KeyboardOptions): void {
  const runId = useMatch('/runs/:runId/*')?.params.runId;
  const openPage = useOpenPage();
  const client = useQueryClient();
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
        const run = client.getQueryData<RunDetail>(keys.run(runId ?? ''));
        const address = addressOfTarget(action.target, runId, run);
        if (address !== null) openPage(address);
      }
      return true;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      const action = actionOf(event);
      if (action !== null && perform(action)) event.preventDefault();
    };
    const actionOf = (event: KeyboardEvent): KeyAction | null => {
      if (event.defaultPrevented || event.isComposing) return null;
      const { key, timeStamp, target, ctrlKey, metaKey, altKey, shiftKey } = event;
      const kind = readModifiers({
        ...{ ctrlKey, metaKey, altKey, shiftKey, isMac: IS_MAC, isTyping: isTyping(target) },
        isAltGraph: event.getModifierState('AltGraph'),
      });
      const chord = kind === 'chord' ? pressChord(key) : null;
      if (overlay === 'palette' && chord?.kind === 'palette') return chord;
      if (overlay !== null || document.querySelector('[role="dialog"]')) return null;
      if (kind !== 'single') return chord;
      if (!singleKeysAreOn() || LEVEL_KEYS.has(key)) return null;
      const next = pressKey(pressed.current, key, timeStamp);
      pressed.current = next.pressed;
      return next.action;
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
    };
  }, [isEnabled, overlay, onHelp, onPalette, openPage, runId, client]);
}
