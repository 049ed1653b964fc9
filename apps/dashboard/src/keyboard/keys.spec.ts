import { describe, expect, it } from 'vitest';
import { addressOfTarget, KEYS, NO_KEYS, pressChord, pressKey, readModifiers, SEQUENCE_MS } from './keys';

describe('pressKey', () => {
  it('takes a single key at once', () => {
    expect(pressKey(NO_KEYS, 'j', 0)).toEqual({ action: { kind: 'move', by: 1 }, pressed: NO_KEYS });
    expect(pressKey(NO_KEYS, 'x', 0)).toEqual({ action: null, pressed: NO_KEYS });
  });

  it('takes the second key of a sequence within its time, and as a key of its own after it', () => {
    const first = pressKey(NO_KEYS, 'g', 100);
    expect(first).toEqual({ action: null, pressed: { keys: ['g'], atMs: 100 } });
    const inTime = pressKey(first.pressed, 'e', 100 + SEQUENCE_MS);
    expect(inTime).toEqual({ action: { kind: 'goTo', target: 'episodes' }, pressed: NO_KEYS });
    expect(pressKey(first.pressed, 'e', 101 + SEQUENCE_MS).action).toBeNull();
  });

  it('takes a key that continues no sequence for itself', () => {
    const { pressed } = pressKey(NO_KEYS, 'g', 0);
    expect(pressKey(pressed, 'j', 1).action).toEqual({ kind: 'move', by: 1 });
    expect(pressKey(pressed, 'g', 1).pressed).toEqual({ keys: ['g'], atMs: 1 });
  });

  it('has no key that another one starts with, and none twice', () => {
    const plain = KEYS.filter(({ isChord }) => !isChord).map(({ keys }) => keys.join(' '));
    expect(new Set(plain).size).toBe(plain.length);
    expect(plain.filter((one) => plain.some((other) => other.startsWith(`${one} `)))).toEqual([]);
  });
});

describe('readModifiers', () => {
  const none = {
    ...{ ctrlKey: false, metaKey: false, altKey: false, shiftKey: false },
    ...{ isAltGraph: false, isMac: false, isTyping: false },
  };

  it('takes keys without modifiers and with Shift, except where one types', () => {
    expect(readModifiers(none)).toBe('single');
    expect(readModifiers({ ...none, shiftKey: true })).toBe('single');
    expect(readModifiers({ ...none, isTyping: true })).toBeNull();
    expect(readModifiers({ ...none, altKey: true })).toBeNull();
  });

  it('takes what AltGr writes, and Option on a Mac', () => {
    expect(readModifiers({ ...none, isAltGraph: true, ctrlKey: true, altKey: true })).toBe('single');
    expect(readModifiers({ ...none, altKey: true, isMac: true })).toBe('single');
    expect(readModifiers({ ...none, isAltGraph: true, isTyping: true })).toBeNull();
  });

  it('takes Ctrl and the command key without further ones, and leaves Ctrl in a field to a Mac', () => {
    expect(readModifiers({ ...none, ctrlKey: true, isTyping: true })).toBe('chord');
    expect(readModifiers({ ...none, ctrlKey: true, shiftKey: true })).toBeNull();
    expect(readModifiers({ ...none, ctrlKey: true, altKey: true })).toBeNull();
    expect(readModifiers({ ...none, ctrlKey: true, isMac: true, isTyping: true })).toBeNull();
    expect(readModifiers({ ...none, metaKey: true, isMac: true, isTyping: true })).toBe('chord');
  });
});

describe('keys', () => {
  it('open the palette by K with Ctrl only, also with caps lock', () => {
    expect(pressChord('K')).toEqual({ kind: 'palette' });
    expect(pressChord('j')).toBeNull();
    expect(pressKey(NO_KEYS, 'k', 0).action).toEqual({ kind: 'move', by: -1 });
  });

  it('go to pages of the run that is shown, and to those of all runs from anywhere', () => {
    const recorded = { kind: 'recorded', policyVersion: null } as const;
    expect(addressOfTarget('updates', 'r1', undefined)).toBe('/runs/r1/updates');
    expect(addressOfTarget('updates', 'r1', { ...recorded, policyVersion: 3 })).toBe('/runs/r1/updates');
    expect(addressOfTarget('updates', 'r1', recorded)).toBeNull();
    expect(addressOfTarget('episodes', 'r1', recorded)).toBe('/runs/r1/episodes');
    expect(addressOfTarget('updates', undefined, undefined)).toBeNull();
    expect(addressOfTarget('runs', undefined, undefined)).toBe('/');
    expect(addressOfTarget('sql', 'r1', undefined)).toBe('/sql');
  });
});
