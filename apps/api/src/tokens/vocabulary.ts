/**
 * The text of each token id of a tokenizer in Hugging Face's `tokenizer.json` format, for showing tokens one by one.
 *
 * Byte-level vocabularies write each byte as a printable character (GPT-2's alphabet), which is turned back into bytes here.
 * A token that is part of a character shows the replacement character: it has no text of its own.
 *
 * @returns the texts by id; undefined where an id is not in use
 * @throws TypeError when the JSON is not a tokenizer
 */
export function readVocabulary(tokenizer: unknown): (string | undefined)[] {
  const { model, decoder, added_tokens: addedTokens } = tokenizer as TokenizerJson;
  if (typeof model?.vocab !== 'object') throw new TypeError('model.vocab is missing');
  const isByteLevel = decoderTypes(decoder).includes('ByteLevel');
  const texts: (string | undefined)[] = [];
  for (const [piece, id] of Object.entries(model.vocab))
    texts[id] = isByteLevel ? textOfBytePiece(piece) : piece;
  for (const { id, content } of addedTokens ?? []) texts[id] = content;
  return texts;
}

interface TokenizerJson {
  readonly model?: { readonly vocab?: Readonly<Record<string, number>> };
  readonly decoder?: Decoder | null;
  readonly added_tokens?: readonly { readonly id: number; readonly content: string }[];
}

interface Decoder {
  readonly type: string;
  readonly decoders?: readonly Decoder[];
}

function decoderTypes(decoder: Decoder | null | undefined): string[] {
  if (!decoder) return [];
  return [decoder.type, ...(decoder.decoders ?? []).flatMap(decoderTypes)];
}

const BYTE_OF_CHARACTER = byteAlphabet();
const UTF8 = new TextDecoder();

function textOfBytePiece(piece: string): string {
  const bytes = Array.from(piece, (character) => BYTE_OF_CHARACTER.get(character));
  return bytes.includes(undefined) ? piece : UTF8.decode(Uint8Array.from(bytes as number[]));
}

/** Printable bytes stand for themselves; the others, in order, for the characters from U+0100 on. */
function byteAlphabet(): ReadonlyMap<string, number> {
  const alphabet = new Map<string, number>();
  let numMoved = 0;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    alphabet.set(String.fromCodePoint(isPrintable ? byte : 0x100 + numMoved++), byte);
  }
  return alphabet;
}
