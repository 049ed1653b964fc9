import type { ActionFormat } from '../action-format.js';
import { AgentFormatError } from '../errors.js';

/** A format whose `write` refuses each turn that its own `parse` would not return. */
export function checkedFormat(format: ActionFormat): ActionFormat {
  return {
    ...format,
    write(turn) {
      const text = format.write(turn);
      const read = format.parse(text, { legalActions: null });
      const isSame =
        read.valid &&
        (read.thought ?? '') === (turn.thought ?? '') &&
        read.actions.length === turn.actions.length &&
        read.actions.every((action, at) => action === turn.actions[at]);
      if (isSame) return text;
      throw new AgentFormatError(
        'NOT_WRITABLE',
        `the format "${format.name}" cannot say thought ${JSON.stringify(turn.thought ?? null)}, actions ${JSON.stringify(turn.actions)}: ${read.problem ?? 'it would read another turn'}`,
      );
    },
  };
}
