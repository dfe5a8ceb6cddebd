#pragma once
#include <memory>

#include "tree/nesting.hpp"

namespace dctx {

// The Python-visible Nesting: its arrays are views that keep it alive.
struct NestingObject {
  std::shared_ptr<const Nesting> data;
};

}  // namespace dctx
