// Learning layouts of events.
#include "scan/trace_event/layouts.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace dctx::trace_event {
namespace {

constexpr size_t kMostRealTexts = 16'384;
constexpr size_t kMostRealBytes = size_t{1} << 19;
constexpr size_t kMostConstant = 24;  // bytes of a phase or a category

// Fields and columns that come twice are counted where they are read.
bool repeats(const Trail& trail) {
  ArgSet args;
  for (size_t i = 0; i < trail.size; ++i) {
    const Trail::Mark& mark = trail.marks[i];
    if (mark.arg != Arg::Other) {
      if (args.has(mark.arg)) return true;
      args.add(mark.arg);
      continue;
    }
    if (mark.kind > ValueKind::Dur) continue;
    for (size_t before = 0; before < i; ++before) {
      const Trail::Mark& other = trail.marks[before];
      if (other.kind == mark.kind && other.field == mark.field) return true;
    }
  }
  return false;
}

std::string_view short_text(const Trail::Mark& mark) {
  const auto size = static_cast<size_t>(mark.end - mark.begin);
  if (*mark.begin != '"' || size > kMostConstant) return {};
  const std::string_view text(mark.begin + 1, size - 2);
  return text.find('\\') == text.npos ? text : std::string_view();
}

// Whether few texts are likely to come here. `category`: the event's, when it stands before.
bool is_constant(const Trail::Mark& mark, std::string_view category) {
  const std::string_view text = short_text(mark);
  if (text.empty()) return false;
  if (mark.kind == ValueKind::Name) return text == category;
  return mark.kind == ValueKind::Skipped || mark.field == &Event::ph || mark.field == &Event::cat;
}

}  // namespace

Layouts::Layouts(size_t max_links)
    : max_links_(std::min<size_t>(max_links, std::numeric_limits<uint16_t>::max())),
      real_texts_(kMostRealTexts, kMostRealBytes) {}

void Layouts::learn(const char* begin, const char* end, const Trail& trail) {
  if (!trail.learnable || trail.size == 0 || repeats(trail)) return;
  Link* parent = &root_;
  const char* from = begin;
  std::string_view category;
  Link link;
  const auto close = [&](const char* to) {
    const auto size = static_cast<size_t>(to - from);
    if (size > kMostText) return false;
    link.size = static_cast<uint32_t>(size);
    std::memcpy(link.text, from, link.size);
    parent = add(*parent, link);
    return parent != nullptr;
  };
  for (size_t i = 0; i < trail.size; ++i) {
    const Trail::Mark& mark = trail.marks[i];
    if (is_constant(mark, category) && link.constant_count < kMostConstants) {
      if (mark.kind == ValueKind::Skipped) continue;
      if (mark.field == &Event::cat) category = short_text(mark);
      Constant& constant = link.constants[link.constant_count++];
      constant.field = mark.field;
      constant.at = static_cast<size_t>(mark.begin + 1 - from);
      constant.size = static_cast<size_t>(mark.end - mark.begin) - 2;
      continue;
    }
    link.kind = mark.kind;
    link.arg = mark.arg;
    link.field = mark.field;
    link.key_size = static_cast<uint16_t>(mark.key.size());
    link.key_back = static_cast<uint16_t>(mark.begin - mark.key.data());
    if (mark.arg != Arg::Other) link.present.add(mark.arg);
    link.other_args |= mark.kind == ValueKind::OtherArg;
    if (!close(mark.begin)) return;
    from = mark.end;
    link.constant_count = 0;
  }
  link.kind = ValueKind::End;
  if (!close(end) || !link.other_args) return;
  last_ = parent;
  list_args();
}

void Layouts::list_args() {
  for (Link* link = last_; link != nullptr; link = link->parent) link->lists = true;
}

// The child with the link's text, a new one if need be; nullptr when there are too many.
Layouts::Link* Layouts::add(Link& parent, Link& link) {
  size_t siblings = 0;
  for (Link* child = parent.first_child; child != nullptr; child = child->sibling) {
    const bool same = child->size == link.size && child->kind == link.kind &&
                      std::memcmp(child->text, link.text, link.size) == 0;
    if (same) return child;
    ++siblings;
  }
  if (siblings == kMostSiblings || !may_learn()) return nullptr;
  link.number = static_cast<uint16_t>(links_.size() + 1);
  Link& added = links_.emplace_back(link);
  added.parent = &parent;
  added.sibling = parent.first_child;
  parent.first_child = &added;
  return &added;
}

}  // namespace dctx::trace_event
