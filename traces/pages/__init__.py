"""What all pages have in common: their palette, and markup from data."""
