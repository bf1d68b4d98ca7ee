"""What people wear and carry."""
