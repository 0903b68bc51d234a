"""The explorer: traces as one page that opens in a browser from disk, without a network."""
