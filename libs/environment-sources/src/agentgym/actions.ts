/** The action in a text of an agent, as AgentGym's client of an environment finds it; null where the client does not ask the server. */
export type ActionRule = (text: string) => string | null;

/** The line after `Action:`, without other characters than letters, digits, comma and blank; null where there are several. */
export const agentGymAction: ActionRule = (text) => {
  const actions = [...text.matchAll(/Action:\s*(.*?)(?=\n|$)/gs)];
  if (actions.length > 1) return null;
  const action = actions.at(0)?.[1] ?? '';
  return action
    .replaceAll(/[^A-Za-z0-9, ]+/g, '')
    .split(/\s+/)
    .join(' ')
    .trim();
};

/** The same where the text has the label; else the whole text, as policies write it that were never shown the label. */
export const labelledOrWhole: ActionRule = (text) =>
  text.includes('Action:') ? agentGymAction(text) : agentGymAction(`Action: ${text.trim().split('\n')[0]}`);

/** Everything after the first `Action:`, or the whole text. */
export const afterLabel: ActionRule = (text) => {
  const at = text.indexOf('Action:');
  return (at === -1 ? text : text.slice(at + 'Action:'.length)).trim();
};

/** Everything after the last `Action:`, or the whole text. */
export const afterLastLabel: ActionRule = (text) => {
  const at = text.lastIndexOf('Action:');
  return (at === -1 ? text : text.slice(at + 'Action:'.length)).trim();
};

/** The last block of SQL, or the whole text. */
export const sqlBlock: ActionRule = (text) => {
  const at = text.lastIndexOf('```sql');
  return at === -1
    ? text.trim()
    : text
        .slice(at + '```sql'.length)
        .split('```')[0]
        .trim();
};

export const wholeText: ActionRule = (text) => text;
