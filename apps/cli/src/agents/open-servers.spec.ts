import { expect, it } from 'vitest';
import { OpenServers } from './open-servers.js';

it('OpenServers: opens each server once, and beyond the limit closes the one that was used least lately, but none that answers', async () => {
  const events: string[] = [];
  const servers = new OpenServers(2);
  const use = (key: string) =>
    servers.use(key, () => {
      events.push(`open ${key}`);
      const close = () => Promise.resolve(void events.push(`close ${key}`));
      return Promise.resolve({ url: key, close });
    });
  const [a] = await Promise.all([use('a'), use('a').then(({ release }) => release())]);
  (await use('b')).release();
  // a answers still, so b is closed though it was used later.
  (await use('c')).release();
  expect(events.splice(0)).toEqual(['open a', 'open b', 'open c', 'close b']);
  a.release();
  a.release();
  (await use('c')).release();
  (await use('d')).release();
  expect(events.splice(0)).toEqual(['open d', 'close a']);
  await servers.close();
  expect(events).toEqual(['close c', 'close d']);
});

it('OpenServers: keeps more than the limit while all of them answer, and tries again what could not be opened', async () => {
  const servers = new OpenServers(1);
  const closed: string[] = [];
  const server = (url: string) => () =>
    Promise.resolve({ url, close: () => Promise.resolve(void closed.push(url)) });
  const [a, b] = [await servers.use('a', server('a')), await servers.use('b', server('b'))];
  expect(closed).toEqual([]);
  b.release();
  await servers.close();
  a.release();
  await expect(servers.use('c', () => Promise.reject(new Error('no weights')))).rejects.toThrow('no weights');
  expect((await servers.use('c', server('c'))).url).toBe('c');
});
