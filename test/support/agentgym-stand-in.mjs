/**
 * Servers with the routes, bodies and errors of AgentGym's alfworld and webshop (3ef9235), whose data and Java no test can install:
 *
 *   node test/support/agentgym-stand-in.mjs alfworld|webshop <port>
 *
 * The games of `alfworld` are those of Retrace's `household`, in the language of ALFWorld 0.3. The shop of `webshop` is a small one of ours with
 * WebShop's pages, actions and reward.
 */
import { createServer } from 'node:http';
import process from 'node:process';
import { householdPut } from '@retrace/environments';
import { SmallShop } from './small-shop.mjs';

/** Names of ALFWorld's kinds of tasks, by those of `household`. */
const ALFWORLD_TASKS = {
  place: 'pick_and_place_simple',
  'place-two': 'pick_two_obj_and_place',
  'examine-in-light': 'look_at_obj_in_light',
  clean: 'pick_clean_then_place_in_recep',
  heat: 'pick_heat_then_place_in_recep',
  cool: 'pick_cool_then_place_in_recep',
};

/** Errors of alfworld are answers with status 200. */
class Alfworld {
  games = new Map();

  create() {
    const id = this.games.size;
    this.games.set(id, { world: householdPut.create(), state: 'new' });
    return { id };
  }

  reset({ id, game, world_type: kind }) {
    if (!['Text', 'Embody', 'Hybrid'].includes(kind))
      return { error: 'world_type must be one of "Text", "Embody" and "Hybrid"' };
    const known = this.games.get(id);
    if (known === undefined) return { error: `The id ${id} is not valid.` };
    const sampled = householdPut.sampleTask({ split: 'train', index: game, seed: 0 });
    const { text, legalActions } = known.world.reset(sampled);
    known.state = 'playing';
    return {
      id,
      // Without the banner, as the server cuts it.
      observation: text.split('\n\n').slice(1).join('\n'),
      available_actions: legalActions,
      task_type: `${ALFWORLD_TASKS[householdPut.familyOf(sampled.task)]}-${game}/trial_${game}`,
    };
  }

  step({ id, action }) {
    const known = this.games.get(id);
    if (known === undefined) return { error: `The id ${id} is not valid.` };
    if (known.state !== 'playing') return { error: `The task with environment ${id} has finished.` };
    const { observation, terminated, truncated, success } = known.world.step(action);
    if (terminated || truncated) known.state = 'over';
    return {
      observation: observation.text,
      reward: Number(success === true),
      available_actions: observation.legalActions,
      done: terminated || truncated,
    };
  }

  answer(verb, body) {
    return this[verb](body);
  }
}

/** Errors of webshop are answers with status 500; it has no route to close. */
class Webshop {
  shops = new Map();

  answer(verb, body, query) {
    if (verb === 'create') {
      const place = 1_000_000 + this.shops.size;
      this.shops.set(place, new SmallShop());
      return place;
    }
    const shop = this.shops.get(body?.env_idx ?? Number(query.get('env_idx')));
    switch (verb) {
      case 'reset':
        return [shop.reset(body.session_id ?? 0), null];
      case 'step':
        return { ...shop.step(body.action), info: null };
      case 'available_actions':
        return shop.availableActions;
      case 'observation':
        return shop.page;
      case 'instruction_text':
        return shop.instruction;
    }
  }
}

const [kind, port] = process.argv.slice(2);
const banner = kind === 'alfworld' ? 'This is environment AlfWorld.' : 'ok';
const served = kind === 'alfworld' ? new Alfworld() : new Webshop();
const posts = ['create', 'reset', 'step'];
const gets = kind === 'alfworld' ? [] : ['available_actions', 'observation', 'instruction_text'];

const server = createServer((request, response) => {
  const reply = (status, answer) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  };
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    const verb = pathname.slice(1);
    if (request.method === 'GET' && verb === '') return reply(200, banner);
    if (!(request.method === 'POST' ? posts : gets).includes(verb))
      return reply(404, { detail: 'Not Found' });
    try {
      reply(200, served.answer(verb, text === '' ? undefined : JSON.parse(text), searchParams));
    } catch {
      reply(500, 'Internal Server Error');
    }
  });
});
server.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
