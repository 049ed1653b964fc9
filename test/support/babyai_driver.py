"""Plays BabyAI of AgentGym: reads a case a line, writes one JSON line for it.

`{"index": 5}` writes the level as a task of Retrace's `grid`; `{"index": 5, "actions": [...]}` writes [text, reward, done] of the reset and
of each action. Run it in the folder of agentenv-babyai.
"""

import contextlib
import io
import json
import os
import sys

sys.path.insert(0, os.getcwd())

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    from agentenv_babyai.environment import all_levels, server
    from minigrid.envs.babyai.core.verifier import AfterInstr, BeforeInstr, PutNextInstr, SeqInstr

VERBS = {"GoToInstr": "go to", "PickupInstr": "pick up", "OpenInstr": "open", "PutNextInstr": "put"}
LOCATIONS = {"left": "on your left", "right": "on your right", "front": "in front of you", "behind": "behind you"}


def describe(target) -> str:
    return " ".join(
        word for word in (target.color, target.type or "object", LOCATIONS.get(target.loc)) if word
    )


def clauses(instruction) -> list:
    """The clauses of a part: one, or the two of an `and`."""
    if isinstance(instruction, SeqInstr):
        return clauses(instruction.instr_a) + clauses(instruction.instr_b)
    if isinstance(instruction, PutNextInstr):
        about = [describe(instruction.desc_move), describe(instruction.desc_fixed)]
    else:
        about = [describe(instruction.desc), None]
    return [[VERBS[type(instruction).__name__], *about, getattr(instruction, "strict", False)]]


def mission(instruction) -> dict:
    order = {BeforeInstr: "then", AfterInstr: "after"}.get(type(instruction))
    if order is None:
        return {"parts": [clauses(instruction)], "order": None}
    return {"parts": [clauses(instruction.instr_a), clauses(instruction.instr_b)], "order": order}


def door_state(door) -> str:
    return "open" if door.is_open else "locked" if door.is_locked else "closed"


def level(env, name: str) -> dict:
    """The task from MiniGrid's state after a reset."""
    things, walls = [], []
    for y in range(env.grid.height):
        walls.append("")
        for x in range(env.grid.width):
            cell = env.grid.get(x, y)
            walls[y] += "#" if cell is not None and cell.type == "wall" else "."
            if cell is None or cell.type == "wall":
                continue
            things.append([cell.type, cell.color, x, y, door_state(cell) if cell.type == "door" else None])
            if cell.type == "box" and cell.contains is not None:
                things.append([cell.contains.type, cell.contains.color, x, y, "boxed"])
    carried = env.carrying
    if carried is not None:
        things.append([carried.type, carried.color, *carried.init_pos, None])
    return {
        "family": name,
        "rules": "agentgym",
        "roomSize": env.room_size,
        "walls": walls,
        "things": things,
        "agent": [*env.agent_pos, env.agent_dir],
        "carrying": -1 if carried is None else len(things) - 1,
        "mission": mission(env.instrs),
        "maxMoves": env.max_steps,
    }


def play(index: int, actions) -> object:
    number = server.create()["id"]
    answers = [server.reset(number, index)]
    if actions is None:
        return level(server.env[number].env.unwrapped, all_levels[index % 40 + 1])
    answers += [server.step(number, action) for action in actions]
    return [[answer["observation"], answer["reward"], answer["done"]] for answer in answers]


for line in sys.stdin:
    case = json.loads(line)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        answer = play(case["index"], case.get("actions"))
    print(json.dumps(answer, default=lambda number: number.item()), flush=True)

# Before Python ends, where the server would tell of each environment among the answers.
os._exit(0)
