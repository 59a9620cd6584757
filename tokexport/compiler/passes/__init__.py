"""What is changed in a model before it is compiled, so that the tables are smaller or faster."""
