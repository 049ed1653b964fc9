/** A call of a tool, as an agent wrote it and its schema allows it. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool that agents may call. */
export interface ToolSchema {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema (draft 7) of the arguments, whose `type` is "object". */
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * The environment's action for a call, with arguments in braces: `take {object} from {place}`. Without it, the action is the
   * call as JSON: `{"name":"take","arguments":{…}}`.
   */
  readonly action?: string;
}

/** One turn of an agent as a format reads it. */
export interface ParsedTurn {
  /**
   * Actions for the environment, in their order. Those of an invalid turn are what a lenient format makes of it, which the
   * recipe may have executed or not; [] where there is nothing to execute.
   */
  readonly actions: readonly string[];
  /** Text that the format has for thoughts, trimmed; null when there is none. */
  readonly thought: string | null;
  /** Whether the text keeps to the format. Whether an action is possible is for the environment to say. */
  readonly valid: boolean;
  /** One sentence that the agent can be told; null when valid. */
  readonly problem: string | null;
  /** The calls behind `actions`; [] in formats without tools. */
  readonly toolCalls: readonly ToolCall[];
}

export interface ParseContext {
  /** Actions that the environment admits now; null when it does not say. */
  readonly legalActions: readonly string[] | null;
}

/** A turn to write in a format. */
export interface WrittenTurn {
  readonly thought?: string;
  readonly actions: readonly string[];
}

/** A way to write thoughts, actions and tool calls into one text. */
export interface ActionFormat {
  readonly name: string;
  /** Tells an agent how to answer, for prompts; with the schemas of the tools, where there are some. '' when there is nothing to tell. */
  readonly instructions: string;
  /** Texts after which generating may stop. They stay in the text that is parsed. */
  readonly stopStrings: readonly string[];
  /** Reads a turn in time linear in the text. Never throws: a bad turn is a value. */
  parse(text: string, context: ParseContext): ParsedTurn;
  /**
   * Writes a turn; `parse(write(turn))` returns its thought and actions.
   *
   * @throws AgentFormatError `NOT_WRITABLE` when the format has no text that says this: more actions than it takes, or a tag or
   * label of the format inside an action.
   */
  write(turn: WrittenTurn): string;
}

export interface ActionFormatOptions {
  /**
   * True: anything but the format is invalid and executes nothing. False: finds what was meant where it can, as the trainers that
   * the formats come from do, and still says whether the text kept to the format.
   */
  readonly strict: boolean;
  /** Most actions of one turn, from 1; those after it are dropped. By default 1 for formats of one action, 5 for lists. */
  readonly maxActions?: number;
  /** Tools of the formats that call tools; by default `act`, which takes an action as text. */
  readonly tools?: readonly ToolSchema[];
}
