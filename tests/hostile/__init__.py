"""Files that nobody should send, each with the end it must come to. Made here, byte by byte; nothing is stored.

`pictures`, `bundles`, `checkpoints` and `configs` hold the corpus; the tests beside them send it through Python, the
page, the HTTP API and the command line.
"""
