/** Letters of a word. */
export const WORD_LENGTH = 5;

/** Marks of one letter of a guess: in its place (`correct`), elsewhere in the secret (`present`), or not in it (`absent`). */
export const MARKS = ['absent', 'present', 'correct'] as const;
export type Mark = (typeof MARKS)[number];

/**
 * Marks a guess by the rules of Wordle, with true letter counts: letters in their places are marked first, and each of the secret's other
 * letters marks at most one letter of the guess as present, from the left. So of two equal letters in the guess only as many are
 * marked as the secret has.
 *
 * @returns one mark for each letter; guess and secret have equally many
 */
export function markGuess(secret: string, guess: string): readonly Mark[] {
  const left = [...secret].filter((letter, place) => letter !== guess[place]);
  return [...guess].map((letter, place) => {
    if (letter === secret[place]) return 'correct';
    const found = left.indexOf(letter);
    if (found === -1) return 'absent';
    left.splice(found, 1);
    return 'present';
  });
}
