"""From a tokexport file to ids and back: the Python side of the C core."""
