"""Batches of Retrace for other trainers."""
