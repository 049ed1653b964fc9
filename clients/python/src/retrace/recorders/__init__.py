"""Recorders: what agents and trainers of other packages did, as episodes. Each module imports its package only when used."""
