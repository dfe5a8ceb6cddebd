#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// Begin and end marks in order of time. `group` keeps threads (or asynchronous ids) apart; a name
// of -1 closes the latest open begin of the group, any other the latest open one of that name.
struct MarkColumns {
  const int32_t* group;
  const uint8_t* begins;
  const int32_t* name;
  size_t rows;
};

// For a begin the row of its end, for an end the row of its begin; -1 where there is none.
std::vector<int32_t> pair_marks(const MarkColumns& marks);

}  // namespace dctx
