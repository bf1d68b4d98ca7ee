"""Features of many image sets: extracted, stored, ranked, judged."""
