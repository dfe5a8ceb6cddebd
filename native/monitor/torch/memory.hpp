#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dctx::monitor {

// Records what torch's allocators tell. Torch has one place a thread for who listens to them, its
// profiler's: it is taken where it is free. Torch's profiler refuses to start where it is taken:
// who starts it has to call yield() before, on the same thread.
class TorchMemory {
 public:
  struct Report {
    int64_t bytes;
    int32_t device_type;
    int32_t device;
  };

  // False, with the reason, when the libc10 that is loaded has not what is needed. The caller has
  // made sure that the version of torch is one whose classes look like ours.
  static bool find(std::string* reason);
  // Reports go to the trees from now on; needs find().
  static void start();
  static void stop();
  // Takes the place of the calling thread when it is free. Cheap when it has been taken. Threads
  // call it while EngineState::memory is set.
  static void listen();
  // Gives the calling thread's place back, and takes none until resume().
  static void yield();
  static void resume();
  // What torch reports between the two on this thread, in place of recording it.
  static void begin_probe();
  static std::vector<Report> end_probe();
};

}  // namespace dctx::monitor
