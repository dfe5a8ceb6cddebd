#include "monitor/gpu/readable_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace dctx::monitor::gpu {

std::string readable_name(std::string_view name) {
  if (name.substr(0, 2) != "_Z") return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : std::string(name);
}

}  // namespace dctx::monitor::gpu
