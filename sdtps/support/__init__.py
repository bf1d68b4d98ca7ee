"""What every part may use: sentences, failures, whole files, a cache bounded in bytes, threads, progress."""
