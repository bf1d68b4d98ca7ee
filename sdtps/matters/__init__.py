"""Does the selection matter? A data set retrieved with the selection replaced, and everything else equal."""
