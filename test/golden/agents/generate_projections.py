"""Runs the functions with which four trainers read actions from agents' texts, and writes their answers to projections.json.

    RETRACE_PEER_SOURCES=<directory> python generate_projections.py

The directory has checkouts of the repositories in SOURCES, at those commits. Only the functions named here are taken from their
files and run, since the packages around them need simulators, torch and transformers."""

import ast
import contextlib
import io
import json
import os
import platform
import re
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import List, Tuple

SOURCES = {
    "verl-agent": ("shivchander/verl-agent", "b85703851262dba11e69ee5a4014e0a80db77ac3"),
    "OpenManus-RL": ("OpenManus/OpenManus-RL", "c66d493022bc4c58e875ba73e8f6a07dd5d499a2"),
    "RAGEN": ("RAGEN-AI/RAGEN", "5eb79b82cecc31db5662ba3c96b752405692410b"),
    "AgentGym": ("WooooDyy/AgentGym", "3ef9235d23e68e7c2920c5422ad957dc8ced5c6c"),
}
ROOT = Path(os.environ["RETRACE_PEER_SOURCES"])
# Constants of classes that the functions read.
CLASS_CONSTANTS = {"valid_functions_args", "function_to_name", "conjunction_words"}


def functions(path, *names):
    """The named functions of a file, in a namespace with all functions and the constants of classes around them."""
    source = (ROOT / path).read_text()
    scope = {"re": re, "json": json, "List": List, "Tuple": Tuple, "Dict": dict, "SimpleNamespace": SimpleNamespace,
             "ActionWithTought": lambda thought, action: SimpleNamespace(thought=thought, action=action)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            constants = [each for each in node.body if isinstance(each, ast.Assign) and names_of(each) & CLASS_CONSTANTS]
            if constants:
                body = {}
                exec(textwrap.dedent("\n".join(textwrap.dedent(segment(source, each)) for each in constants)), scope, body)
                scope[node.name] = SimpleNamespace(**body)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and (node.name in names or node.name.startswith("_")) and node.name != "__init__":
            node.decorator_list, node.returns = [], None
            for argument in node.args.args:
                argument.annotation = None
            exec(compile(ast.Module([node], []), path, "exec"), scope)
    return [scope[name] for name in names]


def names_of(assignment):
    return {target.id for target in assignment.targets if isinstance(target, ast.Name)}


def segment(source, node):
    return " " * node.col_offset + ast.get_source_segment(source, node)


TAGGED = {
    "keeps to the format": "<think>The desk is near.</think><action>go to desk 1</action>",
    "lines around the blocks": "<think>\nThe desk\nis near.\n</think>\n\n<action>\n go to desk 1 \n</action>\n",
    "capitals in the action": "<think>a</think><action>Go To Desk 1</action>",
    "capitals in the tags": "<THINK>a</THINK><ACTION>look</ACTION>",
    "no thought": "<action>look</action>",
    "a thought without an end": "<think>I look around.<action>look</action>",
    "an end of a thought without a start": "I look around.</think><action>look</action>",
    "no action": "<think>I look around the room and see nothing of interest.</think>",
    "words only": "I would rather go to the desk and look at it.",
    "nothing": "",
    "an action without an end": "<think>a</think><action>go to desk 1",
    "an end before the start": "<think>a</think></action>so<action>look</action>",
    "an action in the thought": "<think>Not <action>open door</action> yet.</think><action>look</action>",
    "two actions": "<think>a</think><action>look</action><action>inventory</action>",
    "an empty action": "<think>a</think><action> </action>",
    "a thought in Chinese": "<think>桌子很近</think><action>look</action>",
    "words between the blocks": "<think>a</think> So I say: <action>look</action> and wait.",
    "an action before the thought": "<action>look</action><think>a</think>",
    "a plan": "<plan>1. look</plan><action>look</action>",
    "a plan with memory and reflection": "<memory>a</memory><reflection>b</reflection><plan>c</plan><action>look</action>",
    "an action that is not admissible": "<think>a</think><action>fly away</action>",
}

SEARCHES = {
    "a search": "<think>a</think><search> who wrote it </search>",
    "an answer": "<think>a</think><answer>\nBeethoven\n</answer>",
    "no thought": "<search>who</search>",
    "capitals in the tags": "<think>a</think><Search>who</Search>",
    "both": "<think>a</think><search>who</search><answer>me</answer>",
    "an answer before a search": "<think>a</think><answer>me</answer><search>who</search>",
    "two searches": "<search>who</search><search>what</search>",
    "a search without an end": "<think>a</think><search>who",
    "neither": "<think>a</think>I do not know.",
    "words after it": "<search>who</search> and then I wait",
    "a search in the thought": "<think>maybe <search>that</search></think><search>this</search>",
    "nothing": "",
}

LISTS = {
    "one action": "<think>a</think><answer>Up</answer>",
    "three actions": "<think>a</think><answer>Up || Left || Down</answer>",
    "other capitals": "<think>a</think><answer>UP||left</answer>",
    "too many actions": "<think>a</think><answer>Up||Up||Up||Up||Up||Down||Left</answer>",
    "an unknown action": "<think>a</think><answer>Up || Jump || Left</answer>",
    "unknown actions only": "<think>a</think><answer>Jump</answer>",
    "empty parts": "<think>a</think><answer>|| Up ||  || Left ||</answer>",
    "nothing in the answer": "<think>a</think><answer></answer>",
    "no thought": "<answer>Up</answer>",
    "no answer": "<think>a</think> Up",
    "words between the blocks": "<think>a</think> so <answer>Up</answer>",
    "two answers": "<think>a</think><answer>Up</answer><answer>Left</answer>",
    "an answer without an end": "<think>a</think><answer>Up",
    "tags of the chat template": "<think>a</think><answer>Up<|im_end|></answer>",
    "a single bar": "<think>a</think><answer>Up | Left</answer>",
}

REACTS = {
    "keeps to the format": "Thought:\nIt is near.\n\nAction:\ngo to desk 1",
    "in two lines": "Thought: It is near.\nAction: go to desk 1",
    "blanks at the end": "Thought: a\nAction: look  \n",
    "no thought": "Action: look",
    "no label of the thought": "It is near. Action: look",
    "no action": "Thought: I wait",
    "nothing after the label": "Thought: I wait\nAction:",
    "an action of WebShop without its label": "I will search[red shoes]",
    "a button of WebShop": "Thought: buy\nAction: click[Buy Now]",
    "two actions": "Thought: a\nAction: look\nAction: inventory",
    "an observation made up": "Thought: a\nAction: look\nObservation: You see a desk.",
    "labels in small letters": "thought: a\naction: look",
    "two thoughts": "Thought: a\nThought: b\nAction: look",
    "nothing": "",
}

CALLS = {
    "keeps to the format": '{"thought": "near", "function_name": "goto", "arguments": {"recep": "desk 1"}}',
    "two arguments": '{"thought": "t", "function_name": "take", "arguments": {"obj": "mug 1", "recep": "desk 1"}}',
    "no arguments": '{"thought": "t", "function_name": "inventory", "arguments": {}}',
    "in a block of code": '```json\n{"thought": "t", "function_name": "open", "arguments": {"recep": "drawer 2"}}\n```',
    "words around it": 'I go. {"thought": "t", "function_name": "open", "arguments": {"recep": "drawer 2"}} Done.',
    "a line feed in a text": '{"thought": "one\ntwo", "function_name": "look", "arguments": {}}',
    "an unknown function": '{"thought": "t", "function_name": "fly", "arguments": {}}',
    "a missing argument": '{"thought": "t", "function_name": "take", "arguments": {"obj": "mug 1"}}',
    "an argument of another name": '{"thought": "t", "function_name": "goto", "arguments": {"place": "desk 1"}}',
    "no thought": '{"function_name": "look", "arguments": {}}',
    "single quotes": "{'thought': 't', 'function_name': 'look', 'arguments': {}}",
    "a comma at the end": '{"thought": "t", "function_name": "look", "arguments": {},}',
    "blanks around the name": '{"thought": "t", "function_name": " look ", "arguments": {}}',
    "no JSON": "go to desk 1",
    "nothing": "",
}

USES = {
    "a call": '<tool_call>\ntool: search\nparameters: {"query": "moon", "limit": 3}\n</tool_call>',
    "words before it": 'I search.\n<tool_call>\nTool: search\nParameters: {"query": "moon"}\n</tool_call>',
    "parameters that are not JSON": "<tool_call>\ntool: search\nparameters: the moon\n</tool_call>",
    "keys before the tool": "<tool_call>\nquery: the moon\ntool: search\n</tool_call>",
    "no parameters": "<tool_call>\ntool: clock\n</tool_call>",
    "no tool": '<tool_call>\nparameters: {"query": "moon"}\n</tool_call>',
    "a call without an end": "<tool_call>\ntool: search",
    "an answer": "I know. <answer> 42 </answer>",
    "an answer in Chinese": "<answer>月亮</answer>",
    "a call and an answer": '<tool_call>\ntool: clock\n</tool_call><answer>42</answer>',
    "a call in Chinese": '<tool_call>\ntool: search\nparameters: {"query": "月亮"}\n</tool_call>',
    "words only": "I think about it first.",
    "a tool that there is not": "<tool_call>\ntool: teleport\n</tool_call>",
    "nothing": "",
}

MOVES = {
    **{name: text.replace("look", "up").replace("go to desk 1", "left") for name, text in TAGGED.items()},
    "words around the move": "<think>a</think><action>move up</action>",
}
SOKOBAN_NAMES = ["still", "up", "down", "left", "right"]
RAGEN_LOOKUP = {1: "Up", 2: "Down", 3: "Left", 4: "Right"}


def projected(function, *more):
    def run(text):
        actions, valids = function([text], *more)
        return {"actions": [actions[0]], "valid": bool(valids[0])}

    return run


def openmanus_tool_use():
    (function,) = functions("OpenManus-RL/openmanus_rl/environments/env_package/tool_use/projection.py", "tool_use_projection")

    def run(text):
        actions, valids = function([text])
        action = actions[0]
        if action.startswith("{"):
            call = json.loads(action)
            action = json.dumps({"name": call["tool"], "arguments": call["parameters"]}, ensure_ascii=False, separators=(",", ":"))
        return {"actions": [action], "valid": bool(valids[0])}

    return run


def ragen():
    (parse,) = functions("RAGEN/ragen/llm_agent/ctx_manager.py", "_parse_response")
    (known,) = functions("RAGEN/ragen/llm_agent/es_manager.py", "_extract_map_valid_actions")
    proxy = SimpleNamespace(enable_think=True, max_actions_per_turn=5)
    manager = SimpleNamespace(
        config=SimpleNamespace(agent_proxy=proxy), action_sep="||",
        special_token_list=["<think>", "</think>", "<answer>", "</answer>", "<|im_start|>", "<|im_end|>"])
    entry = {"env": SimpleNamespace(config=SimpleNamespace(action_lookup=RAGEN_LOOKUP))}

    def run(text):
        _, actions = parse(manager, text)
        valid = known(None, entry, actions)
        # The rule of the penalty in EnvStateManager.step.
        penalised = len(valid) != len(actions) or not valid
        return {"actions": [RAGEN_LOOKUP[each] for each in valid], "valid": not penalised}

    return run


def agentgym_react(text):
    with contextlib.redirect_stdout(io.StringIO()) as complaint:
        read = AGENTGYM_REACT(text)
    return {"actions": [read.action] if read.action else [], "valid": complaint.getvalue() == ""}


def agentgym_call(text):
    try:
        return {"actions": [AGENTGYM_CALL(text).action], "valid": True}
    except Exception:
        return {"actions": [], "valid": False}


def sokoban(text):
    answer = projected(VERL_SOKOBAN)(text)
    return {"actions": [SOKOBAN_NAMES[answer["actions"][0]]], "valid": answer["valid"]}


ENVIRONMENTS = "agent_system/environments/env_package"
(VERL_ALFWORLD,) = functions(f"verl-agent/{ENVIRONMENTS}/alfworld/projection.py", "alfworld_projection")
(VERL_WEBSHOP,) = functions(f"verl-agent/{ENVIRONMENTS}/webshop/projection.py", "webshop_projection")
(VERL_SOKOBAN,) = functions(f"verl-agent/{ENVIRONMENTS}/sokoban/projection.py", "sokoban_projection")
(VERL_SEARCH,) = functions(f"verl-agent/{ENVIRONMENTS}/search/projection.py", "_postprocess_action", "search_projection")[1:]
OPENMANUS = "OpenManus-RL/openmanus_rl/environments/env_package"
(OPENMANUS_ALFWORLD,) = functions(f"{OPENMANUS}/alfworld/projection.py", "alfworld_projection")
(OPENMANUS_WEBSHOP,) = functions(f"{OPENMANUS}/webshop/projection.py", "webshop_projection")
(AGENTGYM_REACT,) = functions("AgentGym/agentenv/agentenv/controller/utils.py", "parse_react")
(AGENTGYM_CALL,) = functions("AgentGym/agentenv/agentenv/envs/alfworld.py", "parse_function_calling")

PROJECTIONS = {
    "verl-agent alfworld": (TAGGED, projected(VERL_ALFWORLD, [[]])),
    "verl-agent webshop": (TAGGED, projected(VERL_WEBSHOP)),
    "verl-agent sokoban": (MOVES, sokoban),
    "verl-agent search": (SEARCHES, projected(VERL_SEARCH)),
    "OpenManus-RL alfworld": (TAGGED, projected(OPENMANUS_ALFWORLD, [[]])),
    "OpenManus-RL webshop": (TAGGED, projected(OPENMANUS_WEBSHOP)),
    "OpenManus-RL tool_use": (USES, openmanus_tool_use()),
    "RAGEN": (LISTS, ragen()),
    "AgentGym react": (REACTS, agentgym_react),
    "AgentGym function calling": (CALLS, agentgym_call),
}

golden = {
    "generator": "generate_projections.py",
    "versions": {"python": platform.python_version()},
    "sources": {name: "@".join(source) for name, source in SOURCES.items()},
    "projections": {
        name: [{"case": case, "text": text, **run(text)} for case, text in texts.items()]
        for name, (texts, run) in PROJECTIONS.items()
    },
}
path = Path(__file__).parent / "projections.json"
path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")
