"""What training needs besides the model: cached tokens, sampling, losses, averaging."""
