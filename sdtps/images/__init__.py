"""Picture files to a validated image set, person masks, and pictures for the browser."""
