"""Plays TextCraft of AgentGym: reads a case a line (recipe files, commands, goal, actions), writes its answers.

Run it in the folder of agentenv-textcraft, whose package loads its own recipes on import.
"""

import contextlib
import io
import json
import os
import sys
import tempfile

sys.path.insert(0, os.getcwd())

with contextlib.redirect_stdout(io.StringIO()):
    from agentenv_textcraft.crafting_tree import CraftingTree
    from agentenv_textcraft.environment import TextCraftEnv


def play(case: dict) -> list:
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "recipes"))
        for number, recipe in enumerate(case["recipes"]):
            with open(os.path.join(folder, "recipes", f"{number:03}.json"), "w") as file:
                json.dump(recipe, file)
        env = TextCraftEnv(CraftingTree(folder), None, None)
    text, _ = env.reset(commands=case["commands"], goal=case["goal"])
    answers = [[text, 0, False]]
    for action in case["actions"]:
        text, reward, terminated, _, _ = env.step(action)
        answers.append([text, reward, terminated])
    return answers


for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()):
        answers = play(json.loads(line))
    print(json.dumps(answers), flush=True)
