"""Golden values of tokenizers and chat templates, from transformers.

    pip install torch transformers tokenizers      # made with transformers 5.23.0, tokenizers 0.22
    python generate_chat.py                            # writes chat/ beside itself

`chat/` is the text side of a model directory: a byte-level BPE tokenizer with the structure of Qwen2's, whose merges are
learnt from made-up words, a chat template and end-of-turn ids; `golden.json` has what transformers makes of some texts.
"""

import itertools
import json
import pathlib
import random

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent / "chat"
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEMPLATE = """{%- if messages[0].role != 'system' %}
    {{- '<|im_start|>system\\nAnswer with one word.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- set content = message['content'] | trim %}
    {{- '<|im_start|>' + message['role'] + '\\n' + content + '<|im_end|>' }}
    {% if not loop.last or message.role != 'assistant' %}{{ '\\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
TEXTS = [
    "",
    "it's a map: S F H G\n 42",
    "  two  spaces, Ünïcode 🙂\r\n\r\nand \t tabs ",
    "<|im_start|>user\nhello<|im_end|>",
    "I'LL go; WE'RE 1234",
]
CHATS = [
    [dict(role="user", content=" you see: F F H ")],
    [
        dict(role="system", content="Be brief."),
        dict(role="user", content="one"),
        dict(role="assistant", content="left"),
        dict(role="user", content="two {{ not a template }}"),
    ],
]


def build():
    rng = random.Random(7)
    syllables = [a + b for a, b in itertools.product("bdfghklmnprstvw", "aeiou")]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(100)] + ["'s", "left", "map"]
    lines = [" ".join(rng.choices(words, k=9)) + f". {rng.randint(0, 999)}\n" for _ in range(300)]
    model = Tokenizer(models.BPE())
    model.normalizer = normalizers.NFC()
    model.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    model.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    model.train_from_iterator(
        lines, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=model,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(HERE)


if __name__ == "__main__":
    build()
    tokenizer = AutoTokenizer.from_pretrained(HERE)
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in ["<|im_end|>", "<|endoftext|>"]}
    (HERE / "config.json").write_text(json.dumps(dict(vocab_size=320, eos_token_id=ids["<|im_end|>"])) + "\n")
    (HERE / "generation_config.json").write_text(json.dumps(dict(eos_token_id=list(ids.values()))) + "\n")
    golden = dict(
        generator="test/golden/policy/generate_chat.py",
        texts=[dict(text=t, ids=tokenizer.encode(t), decoded=tokenizer.decode(tokenizer.encode(t))) for t in TEXTS],
        chats=[
            dict(
                messages=chat,
                addGenerationPrompt=prompt,
                text=tokenizer.apply_chat_template(chat, add_generation_prompt=prompt, tokenize=False),
                ids=tokenizer.apply_chat_template(chat, add_generation_prompt=prompt, return_dict=False),
            )
            for chat in CHATS
            for prompt in [True, False]
        ],
    )
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")
