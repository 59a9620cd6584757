"""Changes to a model before it is compiled, so that its tables are smaller or faster."""
