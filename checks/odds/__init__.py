"""How often an acknowledged message is lost: the ways, each as an instance with clocks, and what an answer says of it."""
