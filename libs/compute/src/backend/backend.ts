/**
 * The backends, in the order of choice:
 * `tensorflow-cuda` and `tensorflow`: the addon that `installBackend` builds against a current TensorFlow;
 * `tfjs-node-gpu` and `tfjs-node`: an official package whose own binary is there and loads;
 * `webgpu`: any GPU with a driver for Vulkan, Metal or Direct3D 12, through Dawn;
 * `wasm`: WebAssembly, which every machine has; `cpu`: plain JavaScript, an oracle for tests, used only when it is named.
 */
export type BackendName =
  | 'tensorflow-cuda'
  | 'tfjs-node-gpu'
  | 'tensorflow'
  | 'tfjs-node'
  | 'webgpu'
  | 'wasm'
  | 'cpu';

/** The backend that runs in this process. */
export interface Backend {
  readonly name: BackendName;
  /** Version of TensorFlow, or of the npm package that computes. */
  readonly version: string;
  /** One sentence for people: why this backend was chosen, and what keeps each one before it from being used. */
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
export const BACKEND_NAMES: readonly BackendName[] = [...ORDER_OF_CHOICE, 'cpu'];
