import type { SafetensorsFile } from './safetensors-file.js';
import { encodeSafetensorsHeader } from './safetensors-header.js';

/** An optimizer state that a server keeps and does not hand out. */
export interface HeldState {
  /** Kind of the engine that can load it. */
  readonly engine: string;
  /** Address of the server. */
  readonly url: string;
  /** Name of the state there. */
  readonly path: string;
}

/** Encodes the place of such a state for `CheckpointFiles.write`, as a safetensors file without a tensor. */
export function heldStateContent({ engine, url, path }: HeldState): Uint8Array {
  return encodeSafetensorsHeader([], { heldBy: engine, url, path });
}

/** Place of the state to which an optimizer file refers; null for a file that holds its state itself. */
export function readHeldState({ header }: SafetensorsFile): HeldState | null {
  const { heldBy, url, path } = header.metadata;
  return heldBy === undefined ? null : { engine: heldBy, url, path };
}
