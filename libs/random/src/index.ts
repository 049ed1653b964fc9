export { deriveSeed, hashText } from './derive-seed.js';
export { MAX_UINT32, Pcg32 } from './pcg32.js';
export { pick } from './pick.js';
export { RandomError } from './random-error.js';
export { shuffle } from './shuffle.js';
