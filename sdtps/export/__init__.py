"""What a reader takes home: figures, bundles, batches, supplements."""
