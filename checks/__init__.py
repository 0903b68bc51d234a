"""How it is established: inputs read, engines run, verdicts reported; and the command line."""
