"""Writes the smallest model that vLLM serves on a processor, and SkyRL's JAX back-end: a random Qwen2 or Qwen3 and a tokenizer of single bytes.

A token of such a tokenizer is one byte, so text that the model wrote becomes the same tokens again in the next prompt. Its best
tokens are letters: bytes of other characters would not be text by themselves.

    PYTHONPATH=clients/python/tests/heavy python test/support/served_model.py <directory> [qwen2 | qwen3]
"""

import sys

import torch
from tiny_model import make_tokenizer
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

HEAD_WIDTH = 32  # The narrowest that vLLM's attention has on a processor.

directory, architecture = [*sys.argv[1:], "qwen2"][:2]
Config, Model = {"qwen2": (Qwen2Config, Qwen2ForCausalLM), "qwen3": (Qwen3Config, Qwen3ForCausalLM)}[architecture]
tokenizer = make_tokenizer()
torch.manual_seed(0)
config = Config(
    vocab_size=len(tokenizer),
    hidden_size=2 * HEAD_WIDTH,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=HEAD_WIDTH,
    max_position_embeddings=2048,
    tie_word_embeddings=False,
    bos_token_id=None,
    eos_token_id=tokenizer.eos_token_id,
    pad_token_id=None,
)
model = Model(config).float().eval()
letters = set(tokenizer("".join(map(chr, range(32, 127)))).input_ids)
with torch.no_grad():
    for name, parameter in model.named_parameters():
        # Norms of 1 let adapters, which do not reach the head, change the distribution.
        parameter.fill_(1) if "norm" in name else parameter.normal_(0, 0.15)
    for token in range(len(tokenizer)):
        if token not in letters:
            model.lm_head.weight[token] = 0
tokenizer.save_pretrained(directory)
model.save_pretrained(directory)
