// Functions of devices that the user named: what their trampolines are told to look at.
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "monitor/gpu/custom/device_hooks.hpp"
#include "monitor/gpu/gpu_host.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace monitor;
using namespace monitor::gpu;

using TypeRow = std::tuple<bool, uint8_t>;                   // floating-point, bytes
using ArgumentRow = std::tuple<bool, uint8_t, std::string>;  // … and its mark

uint64_t stack_words(const std::vector<TypeRow>& rows) {
  std::vector<ArgumentType> types;
  for (const auto& [floating, bytes] : rows) types.push_back({floating, bytes});
  uint64_t words = 0;
  argument_places(types, words);
  return words;
}

HookRole role_of(const std::string& name) {
  constexpr const char* kNames[] = {"launch", "sync", "memcpy", "alloc", "free"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<HookRole>(i);
  }
  return HookRole::other;
}

HookSpec hook_of(const py::dict& row) {
  HookSpec hook;
  hook.device = row["device"].cast<uint32_t>();
  hook.function = row["function"].cast<std::string>();
  hook.role = role_of(row["role"].cast<std::string>());
  hook.async = row["is_async"].cast<bool>();
  const auto rows = row["args"].cast<std::vector<ArgumentRow>>();
  std::vector<ArgumentType> types;
  for (const auto& [floating, bytes, mark] : rows) types.push_back({floating, bytes});
  uint64_t words = 0;
  const std::vector<ArgumentPlace> places = argument_places(types, words);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& mark = std::get<2>(rows[i]);
    if (mark == "name") hook.name = places[i];
    if (mark == "bytes") hook.bytes = places[i];
    if (mark == "stream") hook.stream = places[i];
  }
  return hook;
}

// Throws RuntimeError with the reason when this process was not started with the hooks.
std::string open(const std::vector<py::dict>& rows) {
  std::vector<HookSpec> hooks;
  for (const py::dict& row : rows) hooks.push_back(hook_of(row));
  DeviceHooks::instance().configure(std::move(hooks));
  const Host* const host = GpuHost::instance().host();
  if (host == nullptr) throw std::runtime_error("there is no memory for the launches");
  Reason reason;
  const Provider& provider = *custom_provider();
  if (provider.open(*host, Config{}, reason) != Status::ok ||
      provider.start(reason) != Status::ok) {
    throw std::runtime_error(reason.text);
  }
  return provider.version();
}

}  // namespace

void bind_monitor_devices(py::module_& m) {
  py::class_<DeviceHooks, std::unique_ptr<DeviceHooks, py::nodelete>>(m, "DeviceHooks")
      .def_static("stack_words", stack_words, py::arg("arguments"))
      .def_static("open", open, py::arg("functions"))
      .def_static("close", [] { custom_provider()->close(); })
      .def_static("counts", [] {
        const HookCounts counts = DeviceHooks::instance().counts();
        py::dict out;
        out["calls"] = counts.calls;
        out["nested"] = counts.nested;
        out["abandoned"] = counts.abandoned;
        out["open"] = counts.open;
        return out;
      });
}

}  // namespace dctx
