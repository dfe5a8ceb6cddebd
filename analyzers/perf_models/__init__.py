"""What operators have to compute and to move, from the arguments that the trace records.

One module per family of operators, one small function per kind of call; `registry` tells which
function is whose. All figures are per call: floating-point operations with multiplication and
addition counted apart, and bytes with each tensor read or written once (a perfect cache).
"""
