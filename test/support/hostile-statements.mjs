import { readFileSync } from 'node:fs';

/**
 * Reads the list of hostile statements.
 *
 * @param {string} secretPath a file that nobody may read
 * @returns {{ expected: 'refused' | 'bounded', sql: string }[]}
 */
export function readHostileStatements(secretPath) {
  const text = readFileSync(new URL('./hostile-statements.txt', import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [expected, sql] = line.split('\t');
    const repeated = sql.replace(/⟦(.*?)×(\d+)⟧/g, (_, part, times) => part.repeat(Number(times)));
    return [
      {
        expected: expected === 'bounded' ? 'bounded' : 'refused',
        sql: repeated.replaceAll('SECRET_PATH', secretPath),
      },
    ];
  });
}
