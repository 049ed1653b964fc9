import type { ChatMessage } from '@retrace/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BookEvent } from './book-event.js';
import { EpisodeBook, type CallPlace } from './episode-book.js';
import { promptKeys } from './prompt-keys.js';

const RUN = 'run';
const user = (content: string): ChatMessage => ({ role: 'user', content });
const system = (content: string): ChatMessage => ({ role: 'system', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

/** Time of the processor since then, which other programs on the machine change little. */
function cpuMs(before: NodeJS.CpuUsage): number {
  return process.cpuUsage(before).user / 1000;
}

/** Calls through a book, as the recorder makes them; `restart` makes the book again from its events. */
class Calls {
  book = new EpisodeBook();
  readonly events: BookEvent[] = [];
  private nowMs = 0;

  call(name: string | null, prompt: readonly ChatMessage[], output: ChatMessage | null): CallPlace {
    const keys = promptKeys(prompt, false);
    const placement = this.book.place(RUN, name, keys, ++this.nowMs);
    this.finish(placement, prompt, output);
    return placement;
  }

  finish(placement: CallPlace, prompt: readonly ChatMessage[], output: ChatMessage | null): void {
    const keys = promptKeys(prompt, false);
    const { run, scope, generation, episode, root, line, origin } = placement.branch;
    const at = { length: keys.length, key: keys.keyAt(keys.length) };
    this.add({
      type: 'step',
      head: { run, scope, generation, episode, root, line, origin },
      step: placement.step,
      prompt: at,
      tip: output ? keys.after(output) : at,
      system: placement.branch.system,
      tokens: null,
      toolsKey: '',
      hasPendingCalls: (output?.tool_calls?.length ?? 0) > 0,
      atMs: ++this.nowMs,
    });
    this.book.release(placement);
  }

  add(event: BookEvent): void {
    this.events.push(structuredClone(event));
    this.book.apply(event);
  }

  restart(fromSnapshot: boolean): void {
    const events = fromSnapshot ? this.book.snapshot() : this.events;
    const written = JSON.parse(JSON.stringify(events)) as BookEvent[];
    this.book = new EpisodeBook();
    for (const event of written) this.book.apply(event);
  }
}

describe('EpisodeBook', () => {
  it('recovers every random tree of conversations: each call is one step of the branch whose history it sends', () => {
    const action = fc.record({
      pick: fc.nat(1_000),
      isFork: fc.boolean(),
      agent: fc.nat(2),
      name: fc.nat(1),
      restart: fc.constantFrom('no', 'no', 'no', 'events', 'snapshot'),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const calls = new Calls();
        /** Conversations as they were sent: the model of what the book must find. */
        const model = new Map<string, { name: string; history: ChatMessage[][]; agent: number }>();
        let n = 0;
        for (const { pick, isFork, agent, name, restart } of actions) {
          const known = [...model.entries()].filter(([, each]) => each.name === `n${name}`);
          const from = known[pick % (known.length + 1)];
          const told = assistant(`answer ${n}`);
          if (from === undefined) {
            const prompt = [system(`agent ${agent}`), user(`task ${n++}`)];
            const { branch, step } = calls.call(`n${name}`, prompt, told);
            expect([step, model.has(branch.episode)]).toEqual([0, false]);
            const alike = known.filter(([, each]) => each.agent === agent);
            const kind = known.length === 0 ? 'root' : alike.length > 0 ? 'fork' : 'call';
            expect(branch.origin.kind).toBe(kind);
            model.set(branch.episode, { name: `n${name}`, history: [[...prompt, told]], agent });
          } else {
            const [episode, conversation] = from;
            const last = conversation.history.length - 1;
            const at = isFork ? pick % (last + 1) : last;
            const prompt = [...conversation.history[at], user(`turn ${n++}`)];
            const { branch, step } = calls.call(`n${name}`, prompt, told);
            if (at === last) {
              expect([branch.episode, step]).toEqual([episode, last + 1]);
              conversation.history.push([...prompt, told]);
            } else {
              expect([step, model.has(branch.episode), branch.origin.kind]).toEqual([0, false, 'fork']);
              model.set(branch.episode, {
                name: `n${name}`,
                history: [[...prompt, told]],
                agent: conversation.agent,
              });
            }
          }
          if (restart !== 'no') calls.restart(restart === 'snapshot');
        }
        const found = calls.book.open().map(({ episode, numSteps }) => [episode, numSteps]);
        expect(new Map(found as [string, number][])).toEqual(
          new Map([...model].map(([episode, { history }]) => [episode, history.length])),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('says from which step a conversation was forked', () => {
    const calls = new Calls();
    const opening = [system('s'), user('u')];
    const { branch } = calls.call('n', opening, assistant('0'));
    calls.call('n', [...opening, assistant('0'), user('1')], assistant('1'));
    const afterFirst = calls.call('n', [...opening, assistant('0'), user('other')], assistant('2'));
    expect(afterFirst.branch.origin).toEqual({ kind: 'fork', of: branch.episode, step: 1 });
    const retry = calls.call('n', opening, assistant('again'));
    expect(retry.branch.origin).toEqual({ kind: 'fork', of: branch.episode, step: 0 });
    expect(retry.branch.line).toBe(branch.line);
  });

  it('goes on at the same place after a failed call, and never in an episode whose call is under way', () => {
    const calls = new Calls();
    const opening = [user('u')];
    const failed = calls.call('n', opening, null);
    const again = calls.book.place(RUN, 'n', promptKeys(opening, false), 10);
    expect([again.branch.episode, again.step]).toEqual([failed.branch.episode, 1]);
    const beside = calls.book.place(RUN, 'n', promptKeys(opening, false), 11);
    expect(beside.branch.origin).toEqual({ kind: 'fork', of: failed.branch.episode, step: 1 });
    calls.book.release(beside);
    calls.finish(again, opening, assistant('fine'));
    expect(calls.book.open().map(({ numSteps }) => numSteps)).toEqual([2]);
  });

  it('keeps independent agents with equal tasks and no name apart, and joins each by its own answers', () => {
    const calls = new Calls();
    const opening = [user('the task of all')];
    const episodes = ['a', 'b', 'c'].map((text) => calls.call(null, opening, assistant(text)).branch.episode);
    expect(new Set(episodes).size).toBe(3);
    ['c', 'a', 'b'].forEach((text, i) => {
      const next = calls.call(null, [...opening, assistant(text), user('on')], assistant('end'));
      expect([next.branch.episode, next.step]).toEqual([episodes[[2, 0, 1][i]], 1]);
    });
  });

  it(
    'places a call as fast among 3,000 open episodes with the same prompt as among few',
    { timeout: 13_000 },
    () => {
      const calls = new Calls();
      const prompt = [system('s'), user('the same task')];
      const before = process.cpuUsage();
      // Half of the answers are equal, as they are at temperature 0.
      const answers = Array.from({ length: 3_000 }, (_, i) => assistant(`answer ${i % 2 === 0 ? i : 1}`));
      const episodes = answers.map((answer) => calls.call(null, prompt, answer).branch.episode);
      const second = answers.map((answer) =>
        calls.call(null, [...prompt, answer, user('more')], assistant('b')),
      );
      for (const episode of episodes) calls.add({ type: 'end', run: RUN, episode });
      // Ten times of what it takes; it was twenty seconds when each call looked at all episodes.
      expect(cpuMs(before)).toBeLessThan(5_000);
      expect(new Set(second.map(({ branch }) => branch.episode))).toEqual(new Set(episodes));
      expect(calls.book.numOpen).toBe(0);
    },
  );

  it('begins another episode of a name that has ended, and remembers the one that ended', () => {
    const calls = new Calls();
    const { branch } = calls.call('n', [user('u')], assistant('0'));
    calls.add({ type: 'end', run: RUN, episode: branch.episode });
    calls.restart(true);
    expect(calls.book.endedEpisode(RUN, 'n')).toBe('n');
    const next = calls.call('n', [user('u'), assistant('0'), user('1')], assistant('1'));
    expect(next.branch.origin).toEqual({ kind: 'root' });
    expect(next.branch.episode).not.toBe('n');
  });

  it('recognizes a history that the agent wrote in another way, but not one with other words', () => {
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"a": 1}' } };
    const told: ChatMessage = {
      role: 'assistant',
      content: '<think>hm</think>\nyes ',
      tool_calls: [call],
      name: 'x',
    };
    const calls = new Calls();
    const first = calls.call('n', [user('u')], told);
    const written: ChatMessage = {
      role: 'assistant',
      content: 'yes',
      tool_calls: [{ ...call, function: { name: 'f', arguments: '{"a":1}' } }],
    };
    const next = calls.call('n', [user('u'), written, user('2')], assistant('fine'));
    expect([next.branch.episode, next.step]).toEqual([first.branch.episode, 1]);
    const other = calls.call('n', [user('u'), { ...written, content: 'no' }, user('2')], assistant('fine'));
    expect(other.step).toBe(0);
  });
});

describe('promptKeys of a text', () => {
  it('finds the conversation that a growing text continues', () => {
    const book = new EpisodeBook();
    const first = promptKeys([user('Q: 1\nA:')], true);
    const placement = book.place(RUN, null, first, 1);
    const { run, scope, generation, episode, root, line, origin } = placement.branch;
    const tip = first.after(assistant(' 2'));
    expect(tip.length).toBe('Q: 1\nA: 2'.length);
    book.apply({
      type: 'step',
      head: { run, scope, generation, episode, root, line, origin },
      step: 0,
      prompt: { length: first.length, key: first.keyAt(first.length) },
      tip,
      system: '',
      tokens: null,
      toolsKey: '',
      hasPendingCalls: false,
      atMs: 2,
    });
    book.release(placement);
    const next = promptKeys([user('Q: 1\nA: 2\nQ: 3\nA:')], true);
    expect(book.place(RUN, null, next, 3).branch.episode).toBe(episode);
    expect(next.since(tip.length)).toEqual([user('\nQ: 3\nA:')]);
  });
});
