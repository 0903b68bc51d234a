"""What the systems do: the language of protocols, the protocols themselves and the native kernel that runs them."""
