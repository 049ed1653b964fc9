import { describe, expect, it } from 'vitest';
import { completionTool, messageTool } from './tool-definitions.js';

const PARAMETERS = { type: 'object', properties: { at: { type: 'string' } } };
const NAMED = { name: 'look', description: 'Looks', parameters: PARAMETERS };

describe('The definition of a tool', () => {
  it('is read alike from the form of each API', () => {
    const forms = [
      { type: 'function', function: NAMED },
      { type: 'function', ...NAMED },
      NAMED,
      messageTool(NAMED),
    ];
    for (const form of forms) expect(completionTool(form)).toEqual({ type: 'function', function: NAMED });
  });

  it('is none where a provider runs the tool, or it is no object', () => {
    expect([{ type: 'web_search_20250305', name: 'web_search' }, 'look', null].map(completionTool)).toEqual([
      null,
      null,
      null,
    ]);
  });
});
