/**
 * What computes, in the order in which it is chosen:
 * `tensorflow-cuda` and `tensorflow`: the addon that `installBackend` builds against a current TensorFlow;
 * `tfjs-node-gpu` and `tfjs-node`: an official package whose own binary is there and loads;
 * `webgpu`: any GPU with a driver for Vulkan, Metal or Direct3D 12, through Dawn;
 * `wasm`: what every machine has; `cpu`: plain JavaScript, an oracle for tests that is never chosen by itself.
 */
export type BackendName =
  'tensorflow-cuda' | 'tfjs-node-gpu' | 'tensorflow' | 'tfjs-node' | 'webgpu' | 'wasm' | 'cpu';

/** The backend that runs in this process. */
export interface Backend {
  readonly name: BackendName;
  /** Of TensorFlow, or of the npm package that computes. */
  readonly version: string;
  /** One sentence a person can read: why this one, and why none of those before it. */
  readonly reason: string;
}

/** Order of choice when the caller names none. */
export const ORDER_OF_CHOICE: readonly BackendName[] = [
  'tensorflow-cuda',
  'tfjs-node-gpu',
  'tensorflow',
  'tfjs-node',
  'webgpu',
  'wasm',
];

/** Every backend that can be asked for by name. */
export const backendNames: readonly BackendName[] = [...ORDER_OF_CHOICE, 'cpu'];
