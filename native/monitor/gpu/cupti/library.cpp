#include "monitor/gpu/cupti/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace dctx::monitor::gpu::cupti {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                  "libcupti.so"};

template <class Function>
bool find(void* library, const char* name, Function& place) {
  void* const address = dlsym(library, name);
  static_assert(sizeof address == sizeof place);
  std::memcpy(&place, &address, sizeof place);
  return address != nullptr;
}

}  // namespace

void tell(Reason& reason, const std::string& text) {
  const size_t size = std::min(text.size(), sizeof reason.text - 1);
  std::memcpy(reason.text, text.data(), size);
  reason.text[size] = '\0';
}

bool Library::open(const char* path, int flags) {
  handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
  if (handle_ == nullptr) return false;
  path_ = path;
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0') {
    path_ = map->l_name;
  }
  return true;
}

Status Library::load(const char* candidates, Reason& reason) {
  if (loaded()) return Status::ok;
  const char* const asked = std::getenv("DCTX_CUPTI_LIB");
  for (const char* name : kNames) {
    // A program that asks for a library by its path gets the one that has its name already.
    if (open(name, RTLD_NOLOAD)) return find_functions(reason);
  }
  if (asked != nullptr && asked[0] != '\0') {
    if (open(asked, 0)) return find_functions(reason);
    tell(reason, std::string("DCTX_CUPTI_LIB cannot be loaded: ") + dlerror());
    return Status::no_library;
  }
  std::string_view rest = candidates != nullptr ? candidates : "";
  while (!rest.empty()) {
    const std::string path(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    if (!path.empty() && open(path.c_str(), 0)) return find_functions(reason);
  }
  for (const char* name : kNames) {
    if (open(name, 0)) return find_functions(reason);
  }
  tell(reason,
       "no libcupti was found: it comes with torch's CUDA builds (nvidia-cuda-cupti) and with the "
       "CUDA toolkit; DCTX_CUPTI_LIB names another place");
  return Status::no_library;
}

Status Library::find_functions(Reason& reason) {
  Functions& f = functions_;
  struct Needed {
    const char* name;
    bool there;
  };
  const Needed needed[] = {
      {"cuptiGetVersion", find(handle_, "cuptiGetVersion", f.get_version)},
      {"cuptiSubscribe", find(handle_, "cuptiSubscribe", f.subscribe)},
      {"cuptiUnsubscribe", find(handle_, "cuptiUnsubscribe", f.unsubscribe)},
      {"cuptiEnableCallback", find(handle_, "cuptiEnableCallback", f.enable_callback)},
      {"cuptiActivityRegisterCallbacks",
       find(handle_, "cuptiActivityRegisterCallbacks", f.register_buffers)},
      {"cuptiActivityEnable", find(handle_, "cuptiActivityEnable", f.enable)},
      {"cuptiActivityDisable", find(handle_, "cuptiActivityDisable", f.disable)},
      {"cuptiActivityFlushAll", find(handle_, "cuptiActivityFlushAll", f.flush_all)},
      {"cuptiActivityGetNextRecord", find(handle_, "cuptiActivityGetNextRecord", f.next_record)},
      {"cuptiActivityGetNumDroppedRecords",
       find(handle_, "cuptiActivityGetNumDroppedRecords", f.dropped)},
      {"cuptiGetTimestamp", find(handle_, "cuptiGetTimestamp", f.timestamp)},
  };
  find(handle_, "cuptiGetResultString", f.get_result_string);
  find(handle_, "cuptiSubscribe_v2", f.subscribe2);
  find(handle_, "cuptiActivityRegisterTimestampCallback", f.timestamp_callback);
  find(handle_, "cuptiGetGraphNodeId", f.graph_node_id);
  find(handle_, "cuptiGetGraphId", f.graph_id);
  find(handle_, "cuptiActivityRegisterCallbacks_v2", f.register_buffers2);
  find(handle_, "cuptiActivityEnable_v2", f.enable2);
  find(handle_, "cuptiActivityDisable_v2", f.disable2);
  find(handle_, "cuptiActivityGetNextRecord_v2", f.next_record2);
  find(handle_, "cuptiActivityGetNumDroppedRecords_v2", f.dropped2);
  find(handle_, "cuptiGetTimestamp_v2", f.timestamp2);
  for (const Needed& function : needed) {
    if (function.there) continue;
    tell(reason, path_ + " has no function " + function.name + ": CUPTI 11.8 or newer is needed");
    handle_ = nullptr;
    return Status::no_symbols;
  }
  return Status::ok;
}

bool Library::has_several() const {
  const Functions& f = functions_;
  return f.subscribe2 != nullptr && f.register_buffers2 != nullptr && f.enable2 != nullptr &&
         f.disable2 != nullptr && f.next_record2 != nullptr && f.dropped2 != nullptr &&
         f.timestamp2 != nullptr;
}

void* Library::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

std::string Library::version() const {
  uint32_t number = 0;
  if (functions_.get_version == nullptr || functions_.get_version(&number) != kSuccess) return "?";
  // From 13.0 on: 10,000 × major + 100 × minor + update. Before, a number for each release.
  if (number >= 10'000) {
    return std::to_string(number / 10'000) + "." + std::to_string(number % 10'000 / 100);
  }
  constexpr uint32_t kFirst = 18;
  constexpr const char* kReleases[] = {"11.8", "12.0", "12.2", "12.3", "12.4", "12.5",
                                       "12.6", "12.7", "12.8", "12.9", "12.9"};
  if (number >= kFirst && number - kFirst < sizeof kReleases / sizeof *kReleases) {
    return kReleases[number - kFirst];
  }
  return "interface " + std::to_string(number);
}

std::string Library::result_text(Result result) const {
  const char* text = nullptr;
  if (functions_.get_result_string != nullptr &&
      functions_.get_result_string(result, &text) == kSuccess && text != nullptr) {
    return std::string(text) + " (" + std::to_string(result) + ")";
  }
  return "result " + std::to_string(result);
}

}  // namespace dctx::monitor::gpu::cupti
