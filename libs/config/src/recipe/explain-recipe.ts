import { isRecord } from './plain-object.js';

const LINE_LENGTH = 100;

/**
 * A recipe as JSON with a comment on each field (JSONC), which `resolveRecipe` reads from a file `.jsonc`. Of a list of objects the first one
 * has comments.
 *
 * @param recipe plain, as JSON has it
 */
export async function explainRecipe(recipe: object): Promise<string> {
  const { FIELD_WORDS } = await import('./field-words.js');
  return render(recipe, { path: '', indent: '', words: FIELD_WORDS });
}

interface Place {
  /** From the recipe's root, as in "reward.components[]". */
  readonly path: string;
  /** Of the line on which the value begins. */
  readonly indent: string;
  /** Empty where nothing is said. */
  readonly words: Readonly<Record<string, string>>;
}

/** A value, whose first line follows its name. */
function render(value: unknown, place: Place): string {
  const { path, words } = place;
  const indent = `${place.indent}  `;
  if (Array.isArray(value) && value.some(isRecord)) {
    const elements = value.map((element: unknown, i) =>
      render(element, { path: `${path}[]`, indent, words: i === 0 ? words : {} }),
    );
    return enclose('[]', elements, place.indent);
  }
  if (!isRecord(value) || !isExplained(place)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => {
    const fieldPath = path === '' ? name : `${path}.${name}`;
    const comment = wrap(words[fieldPath] ?? '', LINE_LENGTH - indent.length - 3);
    return [
      ...comment.map((line) => `// ${line}`),
      `${JSON.stringify(name)}: ${render(field, { path: fieldPath, indent, words })}`,
    ].join(`\n${indent}`);
  });
  return enclose('{}', fields, place.indent);
}

/** Whether anything is said of the fields of an object: options are for their owner to explain. */
function isExplained({ path, words }: Place): boolean {
  return path === '' || Object.keys(words).some((other) => other.startsWith(`${path}.`));
}

function enclose([opening, closing]: string, parts: readonly string[], indent: string): string {
  const inner = parts.map((part) => `${indent}  ${part}`).join(',\n');
  return `${opening}\n${inner}\n${indent}${closing}`;
}

/** Lines of a text; none of an empty one. */
function wrap(text: string, length: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > length) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
