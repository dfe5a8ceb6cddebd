#pragma once
#include <string>

#include "monitor/engine/thread_record.hpp"
#include "monitor/torch/symbols.hpp"

namespace dctx::monitor {

// Notes what the event that has just begun was called with, when it is an operator that has a
// place in the tree. Torch must have been told to keep inputs. Needs torch.input_sizes.
void note_arguments(ThreadRecord& record, const TorchSymbols& torch, const TorchEvent& event);

// The two JSON lists of the event, a line each; the second is empty when torch cannot tell types.
std::string arguments_text(const TorchSymbols& torch, const TorchEvent& event);

}  // namespace dctx::monitor
