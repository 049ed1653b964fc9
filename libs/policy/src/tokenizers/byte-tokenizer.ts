import { PolicyError } from '../policy-error.js';
import { END_OF_TURN_TOKEN, hashTokenizer, PAD_TOKEN, specialToken } from './tokenizer.js';
import type { DecodeOptions, Tokenizer, TokenizerJson } from './tokenizer.js';

const NUM_BYTES = 256;

/** Makes a tokenizer with one token per byte of UTF-8 (id = byte), 256 for pad and 257 for end of turn. It encodes every text. */
export function byteLevelTokenizer(): Tokenizer {
  return new ByteTokenizer();
}

/** Whether a tokenizer file is that of `byteLevelTokenizer`. */
export function isByteTokenizerJson(json: TokenizerJson): boolean {
  return JSON.stringify(json) === JSON.stringify(byteTokenizerJson());
}

class ByteTokenizer implements Tokenizer {
  readonly vocabSize = NUM_BYTES + 2;
  readonly padTokenId = NUM_BYTES;
  readonly endOfTurnTokenId = NUM_BYTES + 1;
  readonly hash: string;
  private readonly json = byteTokenizerJson();
  readonly markers: readonly string[] = [PAD_TOKEN, END_OF_TURN_TOKEN];
  readonly specialMarkers: ReadonlySet<string> = new Set(this.markers);
  private readonly markerPattern = new RegExp(`(${this.markers.join('|')})`);

  constructor() {
    this.hash = hashTokenizer(this.json);
  }

  encode(text: string): Int32Array {
    const pieces = text.split(this.markerPattern).map((piece) => {
      const special = this.markers.indexOf(piece);
      return special < 0 ? Buffer.from(piece, 'utf8') : [NUM_BYTES + special];
    });
    const tokenIds = new Int32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let offset = 0;
    for (const piece of pieces) {
      tokenIds.set(piece, offset);
      offset += piece.length;
    }
    return tokenIds;
  }

  /** Bytes that are not UTF-8 become U+FFFD. */
  decode(tokenIds: ArrayLike<number>, { skipSpecialTokens = false }: DecodeOptions = {}): string {
    let text = '';
    let bytes: number[] = [];
    const flush = () => {
      text += Buffer.from(bytes).toString('utf8');
      bytes = [];
    };
    for (const id of Array.from(tokenIds)) {
      if (!Number.isInteger(id) || id < 0 || id >= this.vocabSize) {
        throw new PolicyError('INVALID_TOKEN', `token id is ${id}; ids are 0 … ${this.vocabSize - 1}`);
      }
      if (id < NUM_BYTES) {
        bytes.push(id);
      } else if (!skipSpecialTokens) {
        flush();
        text += this.markers[id - NUM_BYTES];
      }
    }
    flush();
    return text;
  }

  toJSON(): TokenizerJson {
    return this.json;
  }
}

function byteTokenizerJson(): TokenizerJson {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const symbols = byteSymbols().map((symbol, byte): [string, number] => [symbol, byte]);
  const vocab = Object.fromEntries([...symbols, [PAD_TOKEN, NUM_BYTES], [END_OF_TURN_TOKEN, NUM_BYTES + 1]]);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [specialToken(NUM_BYTES, PAD_TOKEN), specialToken(NUM_BYTES + 1, END_OF_TURN_TOKEN)],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab,
      merges: [],
    },
  };
}

/**
 * The printable character that represents each byte in byte-level files: the byte's own Latin-1 character if that is
 * visible, else the next one from U+0100 on.
 */
function byteSymbols(): string[] {
  let next = 0x100;
  return Array.from({ length: NUM_BYTES }, (_, byte) => {
    const isVisible = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(isVisible ? byte : next++);
  });
}
