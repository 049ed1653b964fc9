const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const FORMULA_STARTS: ReadonlySet<number> = new Set(Buffer.from('=+-@\t\r'));

/**
 * Puts an apostrophe before each text of ClickHouse's CSV that a spreadsheet would take for a formula (OWASP, CSV injection). ClickHouse writes texts in quotes, and a quote in
 * a text twice; numbers have none, so they stay. The pieces may end anywhere.
 */
export async function* inertCsv(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isInside = false;
  /** The byte before was a quote that began a text. */
  let begins = false;
  let before = 0;
  for await (const piece of pieces) {
    const changed: number[] = [];
    for (const [i, byte] of piece.entries()) {
      if (begins && FORMULA_STARTS.has(byte)) changed.push(i);
      // A doubled quote ends the text and begins it again, which is no beginning of a field.
      begins = byte === QUOTE && !isInside && before !== QUOTE;
      if (byte === QUOTE) isInside = !isInside;
      before = byte;
    }
    yield changed.length === 0 ? piece : withApostrophes(piece, changed);
  }
}

function withApostrophes(piece: Uint8Array, places: readonly number[]): Uint8Array {
  const longer = new Uint8Array(piece.length + places.length);
  let from = 0;
  places.forEach((place, n) => {
    longer.set(piece.subarray(from, place), from + n);
    longer[place + n] = APOSTROPHE;
    from = place;
  });
  longer.set(piece.subarray(from), from + places.length);
  return longer;
}
