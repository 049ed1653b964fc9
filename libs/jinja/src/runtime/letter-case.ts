/** Letter case and kinds of characters, as Python's `str` has them. */
import { isSpace } from '../values/characters.js';

const LETTER_WITH_CASE = /[\p{Lu}\p{Ll}\p{Lt}]/u;

export function capitalized(text: string): string {
  if (text === '') return '';
  const [first, ...rest] = text;
  return titleLetter(first) + rest.join('').toLowerCase();
}

/** Upper case behind each character without case, lower case behind others: "it's" becomes "It'S". */
export function titleCase(text: string): string {
  let isBehindLetter = false;
  let out = '';
  for (const character of text) {
    out += isBehindLetter ? character.toLowerCase() : titleLetter(character);
    isBehindLetter = LETTER_WITH_CASE.test(character);
  }
  return out;
}

export function swapCase(text: string): string {
  return Array.from(text, (character) => {
    if (/\p{Lu}/u.test(character)) return character.toLowerCase();
    return /\p{Lt}/u.test(character) ? character : character.toUpperCase();
  }).join('');
}

/** Without case, as in other languages: ı is no form of i. */
export function caseFolded(text: string): string {
  return Array.from(text, (character) =>
    character === 'ı' ? character : character.toUpperCase().toLowerCase(),
  ).join('');
}

/** Letters of two characters in one, whose title form is neither upper nor lower case. */
const DIGRAPHS = ['Ǆǅǆ', 'Ǉǈǉ', 'Ǌǋǌ', 'Ǳǲǳ'];

function titleLetter(character: string): string {
  const digraph = DIGRAPHS.find((forms) => forms.includes(character));
  if (digraph !== undefined) return digraph[1];
  const upper = character.toUpperCase();
  // ß and ligatures have several capitals, of which a title has the first.
  return upper.length > character.length ? upper[0] + upper.slice(1).toLowerCase() : upper;
}

const each = (rule: RegExp) => (text: string) =>
  text !== '' && [...text].every((character) => rule.test(character));

function isCased(text: string, wanted: RegExp, unwanted: RegExp): boolean {
  return wanted.test(text) && !unwanted.test(text);
}

export const CHARACTER_TESTS: Readonly<Record<string, (text: string) => boolean>> = {
  isalnum: each(/[\p{L}\p{N}]/u),
  isalpha: each(/\p{L}/u),
  isascii: (text) => /^[\0-\x7f]*$/.test(text),
  isdecimal: each(/\p{Nd}/u),
  isdigit: each(/[\p{Nd}²³¹⁰⁴-⁹₀-₉]/u),
  isidentifier: (text) => /^[\p{L}\p{Nl}_][\p{L}\p{Nl}_\p{M}\p{Nd}\p{Pc}]*$/u.test(text),
  islower: (text) => isCased(text, /\p{Ll}/u, /[\p{Lu}\p{Lt}]/u),
  isnumeric: each(/\p{N}/u),
  isprintable: (text) => ![...text].some((character) => character !== ' ' && /[\p{C}\p{Z}]/u.test(character)),
  isspace: (text) => text !== '' && [...text].every(isSpace),
  istitle: (text) => LETTER_WITH_CASE.test(text) && titleCase(text) === text,
  isupper: (text) => isCased(text, /\p{Lu}/u, /[\p{Ll}\p{Lt}]/u),
};
