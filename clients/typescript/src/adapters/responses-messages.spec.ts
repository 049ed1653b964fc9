import { describe, expect, it } from 'vitest';
import { messagesOfItems } from './responses-messages.js';

describe('messagesOfItems', () => {
  it('reads calls and results of tools of every kind', () => {
    expect(
      messagesOfItems([
        { type: 'custom_tool_call', call_id: 'call_1', name: 'sql', input: 'SELECT 1' },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: '1' },
        { type: 'local_shell_call_output', id: 'call_2', output: 'README.md' },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'sql', arguments: 'SELECT 1' } }],
      },
      { role: 'tool', content: '1', tool_call_id: 'call_1' },
      { role: 'tool', content: 'README.md', tool_call_id: 'call_2' },
    ]);
  });

  it('keeps images in results of tools by reference', () => {
    const output = { type: 'computer_screenshot', image_url: `data:image/png;base64,${'A'.repeat(5_000)}` };
    expect(messagesOfItems([{ type: 'computer_call_output', call_id: 'call_1', output }])).toEqual([
      {
        role: 'tool',
        content: [{ type: 'text', text: '[image/png, 5022 characters inline: not recorded]' }],
        tool_call_id: 'call_1',
      },
    ]);
  });
});
