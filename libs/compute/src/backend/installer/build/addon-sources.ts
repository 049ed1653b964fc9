import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const require = createRequire(import.meta.url);

/** Directory of the npm package `@tensorflow/tfjs-node`, whose C++ sources the addon is built from. */
export function addonSourceDirectory(): string {
  return dirname(require.resolve('@tensorflow/tfjs-node/package.json'));
}

/** Version of `@tensorflow/tfjs-node`. */
export function addonVersion(): string {
  return (require('@tensorflow/tfjs-node/package.json') as { version: string }).version;
}

/** Entry script of node-gyp, run as `node <path> …`. */
export function nodeGypScript(): string {
  return require.resolve('node-gyp/bin/node-gyp.js');
}
