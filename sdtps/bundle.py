"""`sdtps.export.bundle` under its name of the first edition, for programs that import it."""

from sdtps.export.bundle import Bundle, read_bundle, write_bundle

__all__ = ["Bundle", "read_bundle", "write_bundle"]
