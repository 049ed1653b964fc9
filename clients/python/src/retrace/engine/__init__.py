"""A worker that makes gradients with torch: `python -m retrace.engine` (`pip install 'clients/python[engine]' in a checkout`).

Retrace's trainer owns samples, rewards, advantages and losses; the worker owns forward, backward, optimizer and sharding. The trainer
sends token ids and gets logprob, entropy and value of each wanted token; it sends their derivatives back. No loss is written here.
"""
