export { expectSameFunction, normal } from './expect-same-function.js';
export { onEachBackend } from './on-each-backend.js';
export { runAsProgram } from './run-as-program.js';
export { temporaryDirectory } from './temporary-directory.js';
