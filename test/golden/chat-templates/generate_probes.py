"""Goldens of the language: what Jinja2, in the environment that transformers has for chat templates, makes of small templates.

    python generate_probes.py                      # writes probes.json beside itself; packages: generate_chat_templates.py

Each probe is a template and its text, or `null` where Jinja2 raises an error.
"""

import copy
import datetime
import itertools
import json
import pathlib

import transformers.utils.chat_template_utils as chat_template_utils

HERE = pathlib.Path(__file__).parent


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 7, 9, 5, 3)


chat_template_utils.datetime = Clock

VARIABLES = {
    "s": "  Hello, wörld 🙂 it's\n",
    "e": "",
    "l": [3, 1, 2],
    "w": ["b", "A", "a"],
    "d": {"b": 1, "a": [1, 2.5, None], "10": "x", "2": {"k": True}, "items": "own"},
    "n": None,
    "t": True,
    "i": 7,
    "f": 2.5,
    "big": 12345678901234567890,
    "us": [{"name": "Bob", "age": 3, "in": {"x": 1}}, {"name": "ann", "age": 5, "in": {"x": 0}}, {"name": "Cid", "age": 3}],
}
STRINGS = ["s", "e", "'abcabc'", "'ﬁß ǅ'", "'🙂a🙂b'", "' a  b c '", "'x.y.z'", "'-12'", "'a\\tb\\r\\nc\\x1cd'"]
METHODS = (
    "strip() strip('ab🙂') strip(None) lstrip() lstrip(' H') rstrip('\\n') rstrip('c') upper() lower() title() capitalize() swapcase() casefold() "
    "split() split(',') split('.',1) split(None,1) split('b') rsplit('.',1) rsplit(None,1) rsplit('b') rsplit(maxsplit=1) splitlines() "
    "splitlines(true) partition('.') rpartition('.') partition('zz') find('b') find('b',2) find('b',-3,-1) rfind('a') rfind('zz') index('b') "
    "count('a') count('') count('ab') replace('a','b') replace('a','xy',1) replace('','-') replace('','-',2) startswith('a') "
    "startswith(('x','🙂')) startswith('b',1) endswith('c') endswith('b',0,-1) center(9) center(8,'*') ljust(9,'.') rjust(9) zfill(6) expandtabs() "
    "expandtabs(4) removeprefix('a') removesuffix('c') isalpha() isdigit() isalnum() isspace() isupper() islower() istitle() isnumeric() "
    "isdecimal() isidentifier() isascii() isprintable() join(['1','2']) join('xy') encode('x').nope nope() nope"
).split()
METHODS = [m for m in METHODS if m]
FILTERS = (
    "trim trim('a') upper lower title capitalize length count first last list reverse reverse|list string int float int(5) float(1.5) "
    "default('x') default('x',true) d e escape safe tojson tojson(indent=2) tojson(ensure_ascii=true) tojson(separators=(',',':')) "
    "tojson(sort_keys=true) join(',') join sort sort(reverse=true) sort|first unique|list min max sum batch(2)|list slice(2)|list "
    "batch(2,'-')|list slice(2,'-')|list replace('a','z') replace('a','z',1) indent indent(2) indent(2,true) indent(2,true,true) "
    "indent('>') truncate(5) truncate(5,true) truncate(5,true,'') truncate(8,false,'.',0) wordcount wordwrap(5) center(12) striptags urlencode "
    "round round(1) round(0,'floor') round(1,'ceil') abs items|list dictsort dictsort(true) dictsort(by='value') "
    "map('upper')|list map(attribute='name')|list select|list reject('none')|list select('string')|list filesizeformat format "
    "map('string')|join('|') attr('upper') groupby|list nope"
).split()
VALUES = ["s", "e", "l", "w", "d", "n", "t", "i", "f", "big", "missing", "'42'", "' -7.9 '", "'<a href=\"x\">b & c</a>'", "(1,)", "range(4)", "-2.5", "1e20", "0.1+0.2", "[]", "{}", "[[1,'a'],[2,'🙂']]"]
NUMBERS = ["0", "1", "7", "-7", "2", "-2", "2.5", "-2.5", "0.0", "true", "1e16", "1e-5", "10**20", "big"]
OPERANDS = ["1", "2.5", "true", "none", "'a'", "'ab'", "[1]", "(1,)", "{'a':1}", "missing", "l", "d", "''", "[]", "0", "range(3)", "'1'", "1.0"]
TESTS = (
    "defined undefined none boolean true false integer float number string mapping sequence iterable callable odd even upper lower "
    "eq(1) ==(1) ne(1) lt(2) gt(2) ge(1) le(1) in([1,'a']) sameas(true) divisibleby(2) divisibleby 3 filter test escaped nope"
).replace("divisibleby 3", "divisibleby§3").split()
FORMATS = [
    "'%s' % s", "'%d' % 3.7", "'%5d|%-5d|%05d|%+d' % (1,2,3,4)", "'%.2f' % 2.675", "'%5.1f|' % 0.25", "'%x %X %o' % (255,255,8)", "'%e' % 12345.678",
    "'%g %g %g' % (1e10, 0.0001, 123456789.0)", "'%s %s' % ('a',)", "'%s' % ('a','b')", "'%%' % ()", "'%(a)s' % {'a':1}", "'%r' % 'it\\'s'", "'%s' % [1,2]",
    "'%s' % n", "'%5s|%-5s|' % ('a','b')", "'%.3s' % 'abcdef'", "'%c' % 65", "'%d' % 'x'", "'%s' % missing", "'%d%%' % 50", "'%.0f %.0f' % (0.5, 1.5)",
    "'{} {}'.format(1,'a')", "'{0}{1}{0}'.format('a','b')", "'{x}'.format(x=5)", "'{:>5}|{:<5}|{:^5}|'.format('a','b','c')", "'{:05d}'.format(42)",
    "'{:.3f}'.format(3.14159)", "'{:,}'.format(1234567)", "'{!r}'.format('x')", "'{:x}'.format(255)", "'{{}}'.format()", "'{a[b]}'.format(a={'b':2})",
    "'{'.format()", "'{:*^9}'.format('mid')", "'{:+.1e}'.format(12345.6)", "'{:%}'.format(0.25)", "'{0.name}'.format({'name':1})", "'{:10.3}|'.format('abcdef')",
    "'{}'.format(2.0)", "'{:g}'.format(2.0)", "'{:b}'.format(5)", "'{:>{w}}'.format('a', w=4)", "'{:.2f}'.format(0.125)", "'{:.1f}'.format(0.25)", "'{:d}'.format(true)",
]
LITERALS = [
    "1_000", "0x1F", "0o17", "0b101", "1.5e3", "1e-7", "1e16", "123456789012345680.0", "1e22", "0.1", "100.0", "1e100", "5e-324", "-0.0", "'a' 'b'", "'\\u00e9\\x41\\n\\\\'",
    "'\\q'", "\"it's\"", "'\"'", "[1, 'a\\'b', none, true, 2.0, [], {}, ()]", "{'a': 'b\"c', 1: 2, none: 3, 2.5: []}", "(1, 2)", "(1,)", "()", "'\\x07\\x7f\\u00a0\\ud800'|length",
    "[1,2,3,]", "{'a':1,}", "[undefined_thing]", "['é🙂\\n']", "1 if true", "1 if false", "(1 if false) is undefined", "1 if false else 2 if false else 3", "not true or true",
    "1 < 2 < 3", "1 < 2 > 3", "2 in [1,2]", "2 not in [1,2]", "not 2 in [1]", "'a' ~ 1 ~ none ~ true ~ 1.0", "1 + 2 ~ 3", "2 ** 3 ** 2", "-2 ** 2", "2 ** -1", "-7 // 2", "-7 % 3", "7 % -3",
    "7.5 // 2", "-7.5 % 2", "1 / 0", "3 / 2", "4 / 2", "'ab' * 2", "3 * [1]", "'ab' * -1", "-1|abs", "(-1)|abs", "-'a'", "+true", "not ''", "[] or 'x'", "1 and 0", "'' == false", "0 == false",
    "1 == 1.0", "1 == true", "'1' == 1", "none == false", "[1] == (1,)", "{'a':1} == {'a':1.0}", "'a' < 'B'", "'🙂' < '\uffff'", "[1,2] < [1,3]", "'a' < 1", "none < 1",
    "l[0]", "l[-1]", "l[9]", "l['x']", "l[1:]", "l[::-1]", "l[:-1]", "l[5:]", "s[2:7]", "s[::-1]", "s[-5:]", "'🙂ab'[0]", "'🙂ab'[1:]", "'abc'[::2]", "'abc'[5]", "d.b", "d['b']", "d.items", "d['items']",
    "d.missing", "d.missing.x", "d['missing']['x']", "n.x", "n['x']", "d.get('b')", "d.get('zz')", "d.get('zz', 4)", "d.keys()", "d.values()", "d.keys()|list", "d.items()|list", "d.items()|length", "'b' in d",
    "1 in d", "'ell' in s", "1 in s", "missing in l", "'x' in missing", "l.append(4)", "d.update({})", "d.pop('b')", "l.index(1)", "l.count(1)", "s.__class__", "d.__class__.x", "''.__class__.__mro__",
    "range(5)", "range(1,7,2)|list", "range(5)[2]", "range(3)|length", "range(200000)", "range(0)|list", "dict(a=1, b=2)", "dict(d, c=3)|length", "namespace(a=1).a", "namespace()", "joiner()", "cycler('a','b').next()",
    "strftime_now('%d %b %Y')", "strftime_now('%Y-%m-%d %H:%M:%S %A %B %j %I %p %y %a %e %U %W %%')", "strftime_now('%-d/%-m')", "raise_exception('no')", "us|map(attribute='name')|join(', ')", "us|map(attribute='in.x')|list",
    "us|map(attribute='in.x', default=9)|list", "us|selectattr('age','eq',3)|map(attribute='name')|list", "us|rejectattr('in')|list|length", "us|selectattr('in.x')|list|length", "us|sort(attribute='name')|map(attribute='name')|list",
    "us|sort(attribute='age,name',reverse=true)|map(attribute='name')|list", "us|groupby('age')|list|length", "us|groupby('age')|map('first')|list", "us|sum(attribute='age')", "us|max(attribute='age')", "us|min(attribute='name')", "us|unique(attribute='age')|list|length",
    "l|select('odd')|list", "l|select('gt',1)|list", "l|select", "(l|select) is true", "l|map('string')|list", "l|sum(start=10)", "['a','b']|sum", "[1,'a']|sort", "[true,false]|sort", "w|sort(case_sensitive=true)", "w|unique|list", "'ba'|sort", "'abc'|list", "'abc'|first",
    "'abc'|last", "''|first", "missing|first", "missing|length", "none|length", "missing|list", "none|list", "none|trim", "none|string", "none|upper", "missing|upper", "missing + 'a'", "missing ~ 'a'", "'a' + missing", "missing == missing", "missing == none", "missing.x", "missing()",
    "missing|tojson", "d|tojson", "us|tojson(indent=1)", "[]|tojson(indent=2)", "{'a':[]}|tojson(indent=2)", "{'a':{'b':[1]}}|tojson(indent=4)", "'\\u007f\\u2028</s>é🙂\\x00'|tojson", "'é🙂'|tojson(true)", "{1:2,none:3,true:4,2.5:5}|tojson", "(1,2)|tojson", "1e16|tojson", "0.1|tojson", "range(3)|tojson", "[1,2]|tojson(separators=(', ', ' : '))",
    "{'b':1,'a':2}|tojson(sort_keys=true)", "loop", "self", "true is boolean", "none is none", "x is defined", "d is mapping", "'a' is string", "l is iterable", "l is sequence", "missing is sequence", "missing is iterable", "missing is callable", "range is callable", "1 is odd", "not 1 is odd", "1 is not odd", "'upper' is filter",
    "3 is divisibleby 3", "3 is eq 3 and true", "1.0 is integer", "true is integer", "true is number", "2 is even", "'A' is upper", "d.b is defined and d.zz is not defined", "'%s'|format(1)", "'%s %s'|format(1, 'a')", "'%(a)s'|format(a=1)", "'a,b'.split(',')|last", "('a' if t else 'b')|upper", "'a'|upper + 'b'", "-1|string + 'x'",
    "(l|length) + 1", "l|length + 1", "{'a':1}['a']", "{'a':1}.a", "[[1,2],[3]]|map('sum')|list", "[[1,2],[3]]|map('length')|list", "['a b','c']|map('replace',' ','_')|list", "l|join(', ')|upper", "us|join(', ', attribute='name')", "42.55|round", "42.55|round(1,'floor')", "2.5|round", "3.5|round|int", "5|round", "15|round(-1)", "'0x1f'|int(base=16)",
    "'1_0'|int", "'1e3'|int", "'x'|int(3)", "[]|int", "1e400", "-1e400", "1e400|int", "'abc' is in 'xabcx'", "'a'.join(['b'])", "''.join([1])", "'%s' is string", "[1,2][true]", "{1:'a'}[1.0]", "{true:'a'}[1]", "d.get", "'a'.upper", "l|batch(2)|map('list')|list", "none.foo is defined", "(none|default('z', true))", "'\\N{BULLET}'",
]
STATEMENTS = [
    "{% for x in l %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}{% endfor %}", "{% for x in [] %}a{% else %}none{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}",
    "{% for c in '🙂ab' %}[{{ c }}]{% endfor %}", "{% for x in l if x > 1 %}{{ loop.index0 }}{{ x }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }} {% endfor %}", "{% for x in n %}{% endfor %}", "{% for x in missing %}a{% else %}b{% endfor %}", "{% for a, b in [[1,2],[3]] %}{{ a }}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% continue %}{% else %}else{% endfor %}", "{% break %}", "{% set x = 1 %}{% for y in l %}{% set x = x + y %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1) %}{% for y in l %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}", "{% set ns.x = 1 %}", "{% set d.x = 1 %}", "{% if t %}{% set z = 5 %}{% endif %}{{ z }}", "{% if e %}{% set z = 5 %}{% endif %}{{ z }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a = 1, 2 %}{{ a }}",
    "{% set x %} in block {% endset %}[{{ x }}]", "{% set x | upper | trim %} in block {% endset %}[{{ x }}]", "{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, c=3) }}|{{ m() }}|{{ m(1,2,3) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, x=2) }}", "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}body{% endcall %}", "{% macro m() %}<{{ caller(1, 2) }}>{% endmacro %}{% call(a, b) m() %}{{ a + b }}{% endcall %}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro m() %}{{ y }}{% endmacro %}{% set y = 4 %}{{ m() }}", "{% macro m() %}{% set q = 1 %}{% endmacro %}{{ m() }}{{ q }}", "{% macro m(a=none) %}{{ a }}{% endmacro %}{{ m() }}{{ m(none) }}", "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter replace('a','b')|upper %}aaa{% endfilter %}", "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}", "{% with a = 1, b = a %}{{ b }}{% endwith %}",
    "{% with %}{% set k = 1 %}{{ k }}{% endwith %}{{ k }}", "{% block x %}b{{ i }}{% endblock %}", "{% block x %}{% set g = 1 %}{% endblock x %}{{ g }}", "{% generation %}g{% set h = 1 %}{{ h }}{% endgeneration %}{{ h }}", "a\n{%- generation -%}\n g \n{%- endgeneration -%}\nb", "{% raw %}{{ x }}{% endraw %}", "{%- raw -%}\n {{ x }} \n{%- endraw -%}\n z", "{# c #}a{#- d -#} b", "a\n{# c #}\nb",
    "  {% if t %}\n  x\n  {% endif %}\n  y", "  {%+ if t %}\n  x\n  {%+ endif %}\n  y", "{% if t +%}\nx\n{% endif +%}\ny", "a {{- ' b ' -}} c", "a\n\n {{- 1 -}} \n\nb", "a \t{% if t -%} \n x {%- endif %} b", "x\n", "x\n\n", "\n", "", "a\r\nb\rc", "{{ 'a\r\nb' }}", "{{ '%}' }}{% if '%}' %}x{% endif %}", "{{ {'a': {'b': 1}} }}", "{{ {'a':{}}}}", "{{ '}}' }}", "{ {a} }",
    "{{ 1 }}\n{{ 2 }}\n", "{% if t %}\n\nx{% endif %}", "\u00a0{% if t %}x{% endif %}", "{% set x = 1 %}\n{% set y = 2 %}\n{{ x + y }}", "{% for x in l recursive %}{{ x }}{% endfor %}", "{% for x in [[1,[2]],[3]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{% endif %}{% endfor %}", "{% for x in l %}{{ loop.previtem }}-{{ loop.nextitem }} {% endfor %}",
    "{% for x in [1,1,2] %}{{ loop.changed(x) }}{{ loop.cycle('a','b') }} {% endfor %}", "{% for x in l %}{% for y in w %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}", "{% for x in l|select('odd') %}{{ loop.last }}{{ loop.length }}{% endfor %}", "{{ loop.index }}", "{% if l %}a{% elif t %}b{% else %}c{% endif %}", "{% if '' or n or missing %}a{% elif 0.0 %}b{% elif {} %}c{% else %}d{% endif %}", "{% if missing.x %}a{% endif %}", "{% if missing is defined and missing.x %}a{% else %}b{% endif %}",
    "{% for %}", "{% endfor %}", "{% if t %}", "{{ 1 +", "{{ }}", "{% nope %}", "{{ a b }}", "{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}", "{% do l.append(1) %}", "{{ 'a", "{# a", "{% raw %}", "{{ 1 | }}", "{{ (1 }}", "{{ [1) }}", "{{ f(a=1, 2) }}", "{% set 1 = 2 %}", "{% set a.b.c = 2 %}", "{% print 1, 2 %}", "{% autoescape true %}{{ 'a' }}{% endautoescape %}", "{%set x=1%}{{x}}", "{%-set x=1-%} {{x}}",
    "{% set x = namespace(_a=1) %}", "{% set ns = namespace() %}{% set ns.__a = 1 %}", "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}{{ ns.c }}", "{% set j = joiner('|') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}", "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}", "{{ range(3) | map('string') | join }}", "{% set g = l | map('string') %}{{ g | list }}{{ g | list }}", "{% for x in l | reverse %}{{ x }}{% endfor %}",
    "{{ dict([('a', 1)]) }}", "{{ dict(**{'a': 1}) }}", "{{ '{}-{}'.format(*[1, 2]) }}", "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': 1, 'b': 2}) }}", "{{ us[0].name }}{{ us.0.name }}{{ us[-1]['name'] }}", "{{ us[0]['in']['x'] }}", "{% set m = us[::-1] %}{{ m[0].name }}", "{% for m in us[::-1] %}{{ m.name }}{% endfor %}", "{{ us | length - 1 }}", "{{ (us | length) - 1 }}", "{{ us[us | length - 1].name }}",
    "{% set x = 'a' if missing is defined else 'b' %}{{ x }}", "{% set loop_x = [] %}{% for x in l %}{% set loop_x = loop_x + [x] %}{% endfor %}{{ loop_x }}", "{% if not t is false %}a{% endif %}", "{% if t is not false %}a{% endif %}", "{{ not t }}", "{{ 'x' if 'a' in 'abc' and not e else 'y' }}", "{{ ('a', 'b') | join }}", "{{ 'a' 'b' | upper }}", "{% for x in 'a', 'b' %}{{ x }}{% endfor %}", "{% for x in (1, 2) %}{{ x }}{% endfor %}", "{% for (a, b) in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{% set x = [1, 2] %}{% set a, b = x %}{{ b }}", "{% set ns = namespace(x=[]) %}{% set ns.x = ns.x + [1] %}{{ ns.x }}", "{{ s|trim|replace('\\n', ' ')|length }}", "{{ \"\\t\" }}|{{ '\\/' }}", "{{ 'a\\\nb' }}", "{% if (1, 2) %}x{% endif %}", "{{ 1, 2 }}", "{{ (1) }}", "{{ -1 }}", "{{ - 1 }}", "{{ +1 }}", "{{ 1.real }}", "{{ 1 .x }}", "{{ l.0 }}", "{{ d['a'][1] }}", "{{ d.a.1 }}",
    "{% macro outer() %}{% macro inner() %}i{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}", "{% for x in l %}{% macro q() %}{{ x }}{% endmacro %}{{ q() }}{% endfor %}", "{% set q = 1 %}{% macro m() %}{{ q }}{% set q = 2 %}{{ q }}{% endmacro %}{{ m() }}{{ q }}", "{% macro m(x) %}{% for y in x %}{{ y }}{% endfor %}{% endmacro %}{{ m(l) | upper }}", "{% macro m() %} a {% endmacro %}[{{ m() | trim }}]", "{{ m is defined }}{% macro m() %}{% endmacro %}{{ m is defined }}{{ m is callable }}{{ m.name }}",
]


def probes():
    yield from (f"{{{{ {value}.{method} }}}}" for value, method in itertools.product(STRINGS, METHODS))
    yield from (f"{{{{ {value}|{name} }}}}" for value, name in itertools.product(VALUES, FILTERS))
    for a, b in itertools.product(NUMBERS, NUMBERS):
        yield " ".join(f"{{{{ ({a}) {op} ({b}) }}}}" for op in ["+", "-", "*", "<", "=="])
        yield from (f"{{{{ ({a}) {op} ({b}) }}}}" for op in ["/", "//", "%"])
    for (a, b), op in itertools.product(itertools.product(OPERANDS, OPERANDS), ["+", "*", "==", "<", "in", "~", "and", "%"]):
        yield f"{{{{ {a} {op} {b} }}}}"
    for value, name in itertools.product([*OPERANDS, "n", "t", "i", "f", "'A'", "us|map('string')", "namespace()"], TESTS):
        yield f"{{{{ {value} is {name.replace('§', ' ')} }}}}"
    yield from (f"{{{{ {each} }}}}" for each in [*FORMATS, *LITERALS])
    yield from STATEMENTS


def render(template):
    try:
        return chat_template_utils._compile_jinja_template(template).render(**copy.deepcopy(VARIABLES))
    except Exception:  # Templates raise what they like.
        return None


if __name__ == "__main__":
    rows = [[template, render(template)] for template in dict.fromkeys(probes())]
    # Addresses and names of Python's own objects are nobody's text.
    rows = [row for row in rows if row[1] is None or not any(mark in row[1] for mark in [" at 0x", "<class", "<built-in"])]
    lines = ",\n".join(json.dumps(row) for row in rows)
    head = json.dumps(dict(generator="test/golden/chat-templates/generate_probes.py", variables=VARIABLES))[1:-1]
    (HERE / "probes.json").write_text(f'{{{head},\n"probes": [\n{lines}\n]}}\n')
    print(len(rows), sum(text is None for _, text in rows))
