"""verl's FSDP engine in the place of the worker's own."""
