#pragma once
#include <string>
#include <string_view>

namespace dctx {

// Replaces `text` in `out` by what all calls of one place have in common: 0x addresses and digit
// runs not preceded by an ASCII letter become `#`, repeated `#` collapse; so do numbers glued to
// layer, block, iter, step, batch, expert, rank (in any case). Only ASCII is touched.
void name_key(std::string_view text, std::string& out);

}  // namespace dctx
