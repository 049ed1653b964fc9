import { describe, expect, it } from 'vitest';
import { sampleEvents } from '../sample-events.js';
import { decodeEvent, encodeEvent } from './index.js';

describe('codec', () => {
  it.each(sampleEvents())('brings back a $kind as it was', (event) => {
    expect(decodeEvent(encodeEvent(event))).toStrictEqual({ ok: true, event });
  });
});
