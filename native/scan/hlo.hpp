#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tree/string_pool.hpp"

namespace dctx::scan {

// One compiled XLA module in columns. Texts are ids of the pool, -1 where not recorded.
struct HloModule {
  std::string name;
  int64_t id = 0;

  std::vector<int64_t> computation_id;
  std::vector<int32_t> computation_name;

  std::vector<int32_t> computation;  // row of the instruction's computation
  std::vector<int32_t> instruction_name, opcode, op_name;
  std::vector<int32_t> file;
  std::vector<int32_t> line;   // -1: not recorded
  std::vector<int32_t> stack;  // row of stack_offsets, -1: none
  // Rows of the computations an instruction calls: called[called_offsets[i] ..
  // called_offsets[i + 1]). Those the module lacks are left out.
  std::vector<int64_t> called_offsets{0};
  std::vector<int32_t> called;

  // Distinct Python stacks, outermost frame first, in the same layout.
  std::vector<int64_t> stack_offsets{0};
  std::vector<int32_t> stack_file, stack_function, stack_line;

  const char* damage = nullptr;  // why reading stopped early
  size_t damage_offset = 0;
};

// Reads an HloProto message (xla/service/hlo.proto). Never fails on bad data: what was read before
// the damage is kept. Stacks end at a cycle, at an id out of range and after 200 frames; a block
// of two or more frames that repeats at once (an inlined function's callers) is kept once.
HloModule read_hlo(std::string_view data, StringPool& pool);

}  // namespace dctx::scan
