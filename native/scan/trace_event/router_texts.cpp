// Ids of texts, and what is known by them: categories and lanes.
#include "scan/trace_event/router.hpp"
#include "scan/trace_event/seen_texts.hpp"

namespace dctx::trace_event {
namespace {

constexpr std::string_view kTooMany = "(too many distinct texts)";

TextForm form_of(const Token& token) {
  return token.form == Form::Container ? TextForm::Json : TextForm::Body;
}

}  // namespace

int32_t Router::text(std::string_view text, TextForm form) {
  const int32_t id = texts_.intern(text, form, kNames);
  if (id >= 0) return id;
  report_.add(Reason::TextCap, offset_);
  return texts_.intern(kTooMany, TextForm::Body, kOwn);
}

int32_t Router::value_text(std::string_view text, TextForm form) {
  const int32_t id = texts_.intern(text, form, kValues);
  if (id < 0) report_.add(Reason::TextCap, offset_);
  return id;
}

int32_t Router::new_token_text(const Token& token) {
  const int32_t id = texts_.intern(token.text(), form_of(token), kNames);
  if (id < 0) return text(token.text(), form_of(token));
  if (token.seen != nullptr) token.seen->keep(texts_.text(id), id, token.form);
  return id;
}

int32_t Router::new_token_value(const Token& token) {
  const int32_t id = value_text(token.text(), form_of(token));
  if (id >= 0 && token.seen != nullptr) token.seen->keep(texts_.text(id), id, token.form);
  return id;
}

int32_t Router::cached(LastText& last, const Token& token) {
  if (token.is_missing()) return text({});
  if (token.id >= 0) return token.id;
  if (token.seen == nullptr && last.holds(token)) return last.id();
  const int32_t id = token_text(token);
  const bool capped = texts_.text(id) != token.text();  // each time it is counted
  if (token.form != Form::Container && !capped) last.keep(token, id);
  return id;
}

size_t Router::category_of(const Event& event) {
  if (event.cat.is_missing()) return 0;
  if (event.cat.id >= 0) return static_cast<size_t>(event.cat.id);
  LastText& last = last_categories_[(event.cat.size + static_cast<uint8_t>(*event.cat.data)) %
                                    last_categories_.size()];
  if (event.cat.seen == nullptr && event.cat.form == Form::String && last.holds(event.cat)) {
    return static_cast<size_t>(last.id());
  }
  const auto id = static_cast<size_t>(text(event.cat.text(), form_of(event.cat)));
  if (id >= category_of_text_.size()) category_of_text_.resize(id + 1, -1);
  if (category_of_text_[id] < 0) {
    category_of_text_[id] = static_cast<int32_t>(categories_.size());
    const std::string_view name = texts_.text(static_cast<int32_t>(id));
    categories_.push_back({static_cast<int32_t>(id), class_of(name), is_launch_flow(name),
                           name == kLaunchFlow, 0, 0});
  }
  if (texts_.text(static_cast<int32_t>(id)) !=
      event.cat.text()) {  // too many texts: counted each time
    return static_cast<size_t>(category_of_text_[id]);
  }
  if (event.cat.form == Form::String) last.keep(event.cat, category_of_text_[id]);
  if (event.cat.seen != nullptr) event.cat.seen->id = category_of_text_[id];
  return static_cast<size_t>(category_of_text_[id]);
}

int32_t Router::lane(const Event& event, Side side) {
  const LaneKey key{side, cached(last_pid_, event.pid), cached(last_tid_, event.tid)};
  const auto [id, is_new] = lane_keys_.intern(key, key.pid ^ key.tid ^ key.side);
  if (id < 0) {
    report_.add(Reason::TextCap, offset_);
    return 0;  // there are millions: the first one takes the rest
  }
  if (is_new) {
    const size_t row = tables_.lane.rows++;
    tables_.lane.side.put(row, side);
    tables_.lane.pid.put(row, key.pid);
    tables_.lane.tid.put(row, key.tid);
  }
  return id;
}

}  // namespace dctx::trace_event
