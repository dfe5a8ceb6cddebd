#pragma once

namespace dctx::monitor {

// What recording one event costs in this process, in ns: begin and end of an operator called from
// the current Python stack, the usual case of a context met before. Takes about half a
// millisecond; leaves nothing in the trees.
double measured_event_ns();

// The same of a launch: begin and end of its call, and what is remembered for its records.
double measured_launch_ns();

}  // namespace dctx::monitor
