"""Around people: sites of cameras, things that stand there, photographs, light."""
