import type { JsonObject, JsonValue } from '@retrace/client';
import { parsedObject } from '@retrace/trajectory/json';
import { asNumber, asObject, asText } from '../json/json-fields.js';

/** A tool call that grows. */
interface CallDraft {
  /** Place among the calls of the answer. */
  readonly place: number;
  id: string;
  name: string;
  readonly pieces: string[];
  /** Arguments that came as a value instead of pieces of its JSON text. */
  value: JsonValue;
}

/** A tool call of one delta. */
interface CallPiece {
  readonly id: string;
  readonly name: string;
  readonly given: JsonValue;
}

/**
 * The tool calls of a streamed answer. By the protocol, `index` says which call a piece belongs to. Servers that leave it out, or give parallel
 * calls the same, are understood by the id, by a name where the last call has one already, or else by order: the piece belongs to the last call.
 */
export class ToolCallsDraft {
  private readonly drafts: CallDraft[] = [];
  private readonly byId = new Map<string, CallDraft>();
  private readonly newestAt = new Map<number, CallDraft>();
  private last: CallDraft | undefined;

  /** Whether a tool is called of which no event told the name. */
  get hasNameless(): boolean {
    return this.drafts.some(({ name }) => name === '');
  }

  add(calls: readonly JsonObject[]): void {
    calls.forEach((call, i) => {
      const piece = readPiece(call);
      const draft = this.draftOf(piece, asNumber(call.index), calls.length > 1 ? i : null);
      addPiece(draft, piece);
      if (draft.id !== '') this.byId.set(draft.id, draft);
      this.last = draft;
    });
  }

  /** The calls as a whole answer has them. */
  finish(): JsonObject[] {
    return [...this.drafts]
      .sort((a, b) => a.place - b.place)
      .map(({ id, name, pieces, value }) => ({
        id,
        type: 'function',
        function: { name, arguments: value ?? pieces.join('') },
      }));
  }

  /** @param position of the piece among several in one delta, which without an index are of different calls */
  private draftOf(piece: CallPiece, index: number | null, position: number | null): CallDraft {
    const known = this.byId.get(piece.id);
    const isSame = known !== undefined && (piece.name === '' || piece.name === known.name);
    if (isSame && (index === null || index === known.place)) return known;
    const at = index ?? position;
    const before = at === null ? this.last : this.newestAt.get(at);
    if (before !== undefined && !beginsAfter(before, piece)) return before;
    const place = index ?? this.drafts.length;
    const draft: CallDraft = { place, id: '', name: '', pieces: [], value: null };
    this.drafts.push(draft);
    this.newestAt.set(place, draft);
    return draft;
  }
}

/** Older versions of vLLM give each piece of a call another id: only one that has a name begins a call. */
function beginsAfter(before: CallDraft, { id, name, given }: CallPiece): boolean {
  if (name === '') return false;
  const hasIds = id !== '' && before.id !== '';
  if (hasIds && id !== before.id) return true;
  if (before.name !== '' && name !== before.name) return true;
  return !hasIds && isWhole(before) && given !== null && given !== '';
}

/** Whether the arguments came in one piece, after which no more can come. */
function isWhole({ pieces, value }: CallDraft): boolean {
  return value !== null || (pieces.length === 1 && parsedObject(pieces[0]) !== null);
}

/** Reads a call of a function, or of a custom tool, whose arguments are any text. */
function readPiece({ id, function: called, custom }: JsonObject): CallPiece {
  const { name, arguments: given, input } = asObject(called ?? custom);
  return { id: asText(id) ?? '', name: asText(name) ?? '', given: given ?? input ?? null };
}

function addPiece(draft: CallDraft, { id, name, given }: CallPiece): void {
  // Some servers repeat the id and the name in each chunk.
  if (draft.id === '') draft.id = id;
  if (draft.name === '') draft.name = name;
  if (typeof given !== 'string') draft.value = given ?? draft.value;
  else if (given !== '') draft.pieces.push(given);
}
