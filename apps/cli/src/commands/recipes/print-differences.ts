import { recipeDifferences, resolveRecipe } from '@retrace/config';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

/** Prints the fields in which two recipes differ, one a line, with both values as JSON; nothing but a sentence where they are equal. */
export function printDifferences(first: string, second: string, { json }: CommonOptions): void {
  const differences = recipeDifferences(resolveRecipe(first), resolveRecipe(second));
  if (json === true) {
    console.log(JSON.stringify(differences, null, 2));
    return;
  }
  if (differences.length === 0) {
    console.log('The recipes are equal.');
    return;
  }
  const show = (value: unknown) => (value === undefined ? '–' : JSON.stringify(value));
  const rows = differences.map((field) => [field.field, show(field.first), show(field.second)]);
  console.log(renderTable(['field', first, second], rows));
}
