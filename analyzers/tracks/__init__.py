"""Events over time: lines of events, what of them lies in a window, and the way between them."""
