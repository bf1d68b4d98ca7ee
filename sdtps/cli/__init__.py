"""The command line: one module for each command, and the options they share."""
