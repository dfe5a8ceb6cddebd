#pragma once

namespace dctx::monitor {

// A signal that turns recording on and off: its handler does nothing but ring a pipe, so that the
// program runs on and the recorder's thread does the rest.
class ToggleSignal {
 public:
  // `descriptor`: what the handler writes kToggle to. False when the system refuses the signal.
  static bool take(int signal, int descriptor);
  // Gives the signal back to who had it; leaves it alone when the program took it meanwhile.
  static void give_back();
  // In a forked child: a signal that comes now must not reach the parent's recorder.
  static void forget();

  static constexpr char kToggle = 't';
};

}  // namespace dctx::monitor
