/**
 * Prints a block of a page, for what a reader saves from it:
 *
 *   node test/docs/print-block.mjs docs/tutorial.md "import { defineReward, wholeNumber } from '@retrace/rewards';"
 */
import { readBlocks } from './blocks.mjs';

const [page, begins] = process.argv.slice(2);
const found = readBlocks().find((block) => block.page === page && block.text.startsWith(begins));
if (found === undefined) throw new Error(`${page} has no block that begins with ${begins}`);
console.log(found.text);
