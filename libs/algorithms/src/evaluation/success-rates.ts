export { attemptFigures } from './attempt-figures.js';
export { comparePaired } from './paired-comparison.js';
