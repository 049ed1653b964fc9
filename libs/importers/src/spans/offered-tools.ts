import { asObjects } from '@retrace/chat';
import type { Json } from '@retrace/trajectory';
import { json, looseJson } from '../fields.js';

/** The tools of the calls so far, which are kept with a step where they change, as the proxy does. */
export class OfferedTools {
  private key = '';

  /** The definitions, where they are others than those of the call before; null where they are the same, or unknown. */
  changed(tools: readonly Json[] | null): readonly Json[] | null {
    if (tools === null) return null;
    const key = tools.length === 0 ? '' : JSON.stringify(tools);
    if (key === this.key) return null;
    this.key = key;
    return tools;
  }
}

/** Reads definitions of tools: a list, or its JSON, of objects or their JSON; null where there is none. */
export function readToolDefinitions(value: unknown): readonly Json[] | null {
  const list = looseJson(value);
  return Array.isArray(list) ? asObjects(list.map(looseJson)).map(json) : null;
}
