"""The exit statuses, as the help of a command lists them."""

EXIT_STATUS = """exit status:
  0 everything holds      10 an assumption of the model does not hold   11 a deadlock
  12 safety is violated   13 liveness is violated                       14 a known bug affects the release
  15 weaker than before   16 less than is required
  20 inconclusive (a limit was reached)                                 2 wrong usage
  75 nothing was checked  150 an input cannot be read                   153 a failure of the system"""
