"""Plays episodes in the engine of the installed alfworld: one JSON line each with task, intro and actions in, one of the answers out.

The planning problem is made of the task. Domain, grammar, goals, names, and what fits where or can be done to what are alfworld's own.
"""

import json
import sys
from pathlib import Path

import alfworld
import textworld
from alfworld.agents.utils.misc import Demangler
from alfworld.gen import constants
from alfworld.gen.goal_library import gdict
from textworld.envs import PddlEnv

DATA = Path(alfworld.__file__).parent / "data"
DOMAIN = (DATA / "alfred.pddl").read_text()
GRAMMAR = (DATA / "alfred.twl2").read_text()
GOALS = {
    "place": "pick_and_place_simple",
    "place-two": "pick_two_obj_and_place",
    "examine-in-light": "look_at_obj_in_light",
    "clean": "pick_clean_then_place_in_recep",
    "heat": "pick_heat_then_place_in_recep",
    "cool": "pick_cool_then_place_in_recep",
}
ACTIONS = {"cleanable": "Cleanable", "heatable": "Heatable", "coolable": "Coolable", "sliceable": "Sliceable"}


def type_of(kind):
    return constants.OBJECTS_LOWER_TO_UPPER[kind]


def id_of(name):
    """The id that alfworld gives this name to: the first of a kind by id gets the largest number."""
    kind, number = name.split(" ")
    rest = f"_bar_{99 - int(number)}"
    return kind[: -len("basin")] + rest + f"_bar_{kind}" if kind.endswith("basin") else kind + rest


def location_of(place):
    return "loc" + f"_bar_{99 - place}"


def problem_of(task, names):
    """The planning problem of a task. `names` are those of its receptacles, in the order of the list."""
    places = {name: number for number, name in enumerate(names, 1)}
    middle = location_of(len(names) + 1)
    facts = [f"(atLocation agent1 {middle})"]
    receptacle_types, object_types = set(), {"Knife", "ButterKnife"}
    receptacle_types |= {"SinkBasin", "Microwave", "Fridge"}
    for name, place in places.items():
        kind = type_of(name.split(" ")[0])
        receptacle_types.add(kind)
        facts += [f"(receptacleType {id_of(name)} {kind}Type)", f"(receptacleAtLocation {id_of(name)} {location_of(place)})"]
        if kind in constants.OPENABLE_CLASS_SET:
            facts.append(f"(openable {id_of(name)})")
    counts, things = {}, []
    for kind, place in task["things"]:
        counts[kind] = counts.get(kind, 0) + 1
        thing, type_name = id_of(f"{kind} {counts[kind]}"), type_of(kind)
        things.append(thing)
        object_types.add(type_name)
        facts += [
            f"(objectType {thing} {type_name}Type)",
            f"(inReceptacle {thing} {id_of(place)})",
            f"(objectAtLocation {thing} {location_of(places[place])})",
        ]
        if type_name in constants.VAL_ACTION_OBJECTS["Toggleable"]:
            facts.append(f"(toggleable {thing})")
        else:
            facts.append(f"(pickupable {thing})")
        facts += [f"({fact} {thing})" for fact, action in ACTIONS.items() if type_name in constants.VAL_ACTION_OBJECTS[action]]
        if type_name in constants.MOVABLE_RECEPTACLES_SET:
            facts.append(f"(isReceptacleObject {thing})")
    for kind in sorted(receptacle_types):
        contents = sorted(constants.VAL_RECEPTACLE_OBJECTS.get(kind, ()))
        facts += [f"(canContain {kind}Type {other}Type)" for other in contents if other in object_types]
    goal = gdict[GOALS[task["family"]]]["pddl"].format(
        obj=type_of(task["thing"]), recep=type_of(task["target"]), toggle=type_of(task["target"])
    )
    objects = [f"{thing} - object" for thing in things]
    objects += [f"{id_of(name)} - receptacle" for name in names]
    objects += [f"{location_of(place)} - location" for place in range(1, len(names) + 2)]
    objects += [f"{kind}Type - rtype" for kind in sorted(receptacle_types)]
    objects += [f"{kind}Type - otype" for kind in sorted(object_types)]
    return (
        f"(define (problem p) (:domain alfred) (:objects agent1 - agent {' '.join(objects)})"
        f"(:init (= (total-cost) 0) {' '.join(facts)}) {goal.replace('#', '-')}"
    )


class NamedEnv(textworld.core.Wrapper):
    def load(self, *args):
        super().load(*args)
        demangler = Demangler(game_infos=self._entity_infos)
        for info in self._entity_infos.values():
            info.name = demangler.demangle_alfred_name(info.id)


def play(episode):
    env = NamedEnv(PddlEnv(textworld.EnvInfos(admissible_commands=True)))
    problem = problem_of(episode["task"], episode["receptacles"])
    grammar = GRAMMAR.replace("UNKNOWN GOAL", episode["sentence"])
    env.load({"pddl_domain": DOMAIN, "grammar": grammar, "pddl_problem": problem})
    state = env.reset()
    answers = [[state.feedback, state["admissible_commands"], bool(state["won"])]]
    for action in episode["actions"]:
        state, _, _ = env.step(action)
        answers.append([state.feedback, state["admissible_commands"], bool(state["won"])])
    env.close()
    return answers


for line in sys.stdin.readlines():
    print(json.dumps(play(json.loads(line))), flush=True)
