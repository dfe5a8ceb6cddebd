#pragma once
#include <cstdint>
#include <string>

#include "monitor/gpu/cupti/abi.hpp"
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu::cupti {

// The functions of the CUPTI that is loaded; null where it is too old to have them.
struct Functions {
  Result (*get_version)(uint32_t*) = nullptr;
  Result (*get_result_string)(Result, const char**) = nullptr;
  Result (*subscribe)(Subscriber*, CallbackFunction, void*) = nullptr;
  Result (*subscribe2)(Subscriber*, CallbackFunction, void*, SubscriberParams*) = nullptr;
  Result (*unsubscribe)(Subscriber) = nullptr;
  Result (*enable_callback)(uint32_t, Subscriber, uint32_t, uint32_t) = nullptr;
  Result (*register_buffers)(RequestBuffer, CompleteBuffer) = nullptr;
  Result (*enable)(uint32_t) = nullptr;
  Result (*disable)(uint32_t) = nullptr;
  Result (*flush_all)(uint32_t) = nullptr;
  Result (*next_record)(uint8_t*, size_t, ActivityHead**) = nullptr;
  Result (*dropped)(void*, uint32_t, size_t*) = nullptr;
  Result (*timestamp)(uint64_t*) = nullptr;
  Result (*timestamp_callback)(Timestamp) = nullptr;
  Result (*graph_node_id)(void*, uint64_t*) = nullptr;
  Result (*graph_id)(void*, uint32_t*) = nullptr;
  // Of the interface for several subscribers.
  Result (*register_buffers2)(Subscriber, RequestBuffer2, CompleteBuffer2) = nullptr;
  Result (*enable2)(Subscriber, uint32_t, void*) = nullptr;
  Result (*disable2)(Subscriber, uint32_t, void*) = nullptr;
  Result (*next_record2)(Subscriber, uint8_t*, size_t, ActivityHead**) = nullptr;
  Result (*dropped2)(Subscriber, void*, uint32_t, size_t*) = nullptr;
  Result (*timestamp2)(Subscriber, uint64_t*) = nullptr;
};

// A CUPTI: found, loaded, and never unloaded again (its threads may run until the process ends).
class Library {
 public:
  // Loads the CUPTI that is loaded already, else that of DCTX_CUPTI_LIB, else the first of
  // `candidates` (a path a line), else what the loader finds. Nothing is initialised.
  Status load(const char* candidates, Reason& reason);
  bool loaded() const { return handle_ != nullptr; }
  const Functions& functions() const { return functions_; }
  const std::string& path() const { return path_; }
  // Whether all of the interface for several subscribers is there.
  bool has_several() const;
  // The address of a function that few need; null when the library lacks it.
  void* symbol(const char* name) const;
  // `13.0` of the version that the library tells.
  std::string version() const;
  // What the library calls a result; its number when it does not know either.
  std::string result_text(Result result) const;

 private:
  bool open(const char* path, int flags);
  Status find_functions(Reason& reason);

  void* handle_ = nullptr;
  std::string path_;
  Functions functions_;
};

// Puts a text into a Reason, cut to its size.
void tell(Reason& reason, const std::string& text);

}  // namespace dctx::monitor::gpu::cupti
