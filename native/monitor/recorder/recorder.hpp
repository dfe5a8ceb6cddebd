#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "monitor/recorder/control_socket.hpp"
#include "monitor/recorder/output_file.hpp"
#include "monitor/recorder/snapshot.hpp"
#include "monitor/recorder/step_gate.hpp"
#include "monitor/recorder/wake.hpp"

namespace dctx::monitor {

struct RecorderOptions {
  std::string path;
  int64_t interval_ns = 5'000'000'000;
  bool durable = false;              // fsync: also what a machine that fails would lose
  int64_t start_ns = -1;             // engine starts so long after the recorder; −1: at once
  int64_t stop_ns = -1;              // engine stops so long after the recorder; −1: never by itself
  bool paused = false;               // engine starts when it is told to
  int toggle_signal = 0;             // turns recording on and off; 0: none
  std::string control_path;          // of the control socket; empty: none
  StepWindow window;                 // steps to record
  uint64_t compact_bytes = 8 << 20;  // a smaller file is never compacted while it grows
};

struct RecorderState {
  bool running = false;
  bool recording = false;  // … and not paused
  std::string path;
  uint64_t file_bytes = 0;  // 0: there is no file, as nothing was recorded
  uint64_t snapshots = 0;
  uint64_t compactions = 0;
  int64_t cpu_ns = 0;   // spent on snapshots
  std::string error;    // of the last write that failed; empty when the last one succeeded
  std::string trouble;  // why the toggle signal or the control socket is not there; else empty
  Totals totals;        // as of the last snapshot
};

// Writes the registry to a file, again and again, on a thread of its own that never takes the
// interpreter's lock. The file appears with the first event. No function throws.
class Recorder {
 public:
  // Never destroyed: its thread may run until the process ends.
  static Recorder& instance();

  // Starts the thread, and the engine unless it runs; its trees are kept. False when the recorder
  // runs already.
  bool start(const RecorderOptions& options, const std::string& meta);
  // Facts about the recording, as JSON: written with the next snapshot.
  void set_meta(const std::string& meta);
  // A chunk of a kind that only readers know: written with the next snapshot. Only for a recording
  // that runs; a chunk alone makes the file worth writing.
  void attach(uint32_t type, std::string content);
  // Recording goes on only while nobody wants it to pause: the user, the window of steps, the one
  // of time.
  enum class Pause : uint8_t { user = 1, steps = 2, time = 4 };
  void pause(Pause by, bool on);
  void toggle();
  // A step of the program ended: recording goes on or pauses, as the window asks.
  void step_ended(StepTeller by);
  // Writes what is new now. True when it is in the file.
  bool snapshot();
  // Ends the recording: the file becomes compact. Returns the final state.
  RecorderState stop();
  RecorderState state();

 private:
  struct Worker {
    Wake wake;
    ControlSocket control;
    std::atomic<bool> ending{false};
    std::thread thread;
  };

  Recorder() = default;
  void run(Worker& worker);
  std::string answer(std::string_view command);
  // With mutex_ held.
  void open_controls(Worker& worker);
  void set_pause(Pause by, bool on);
  bool write(bool last);
  bool write_fresh(bool last);
  void compact_when_large();
  SnapshotFacts facts(bool last) const;

  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::mutex mutex_;  // of what follows; held while a snapshot is written
  RecorderOptions options_;
  std::string meta_;
  std::vector<Attachment> attached_;
  int64_t start_utc_ns_ = 0;
  int64_t start_monotonic_ns_ = 0;
  std::unique_ptr<SnapshotWriter> writer_;
  std::unique_ptr<Worker> worker_;
  uint8_t pauses_ = 0;
  std::atomic<bool> steps_paused_{false};
  bool forked_ = false;  // the gate counts on from the parent's steps
  StepGate gate_;
  OutputFile file_;
  uint64_t compact_bytes_ = 0;  // what the file would be at least
  bool torn_ = false;           // a piece is missing: only a new file holds everything
  RecorderState state_;
};

}  // namespace dctx::monitor
