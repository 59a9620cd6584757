"""What normalizers do to a text, as the reference libraries do it: on strings, slowly."""
