#include "tree/blame.hpp"

#include <algorithm>
#include <stdexcept>

#include "tree/nesting.hpp"
#include "tree/sort_order.hpp"

namespace dctx {
namespace {

// Adds pieces of time, which come in order, to the spans of one lane and group.
class Ledger {
 public:
  Ledger(const BlamedSpans& spans, const uint32_t* order, size_t count, std::vector<int64_t>& sums,
         BlameRows& out)
      : spans_(spans), order_(order), count_(count), sums_(sums), out_(out) {}

  int64_t first_start() const { return spans_.start[order_[0]]; }
  int64_t last_end() const { return spans_.end[order_[count_ - 1]]; }

  void add(int64_t start, int64_t end, int32_t label) {
    while (at_ < count_ && spans_.end[order_[at_]] <= start) ++at_;
    for (size_t k = at_; k < count_ && spans_.start[order_[k]] < end; ++k) {
      while (opened_ <= k) open(order_[opened_++]);
      const uint32_t row = order_[k];
      const int64_t ns = std::min(end, spans_.end[row]) - std::max(start, spans_.start[row]);
      if (ns <= 0) continue;  // an empty span
      int64_t& sum = sums_[static_cast<size_t>(label)];
      if (sum == 0) touched_.push_back(label);
      sum += ns;
      covered_ += ns;
    }
  }

  void finish() {
    while (opened_ < count_) open(order_[opened_++]);
    flush();
  }

 private:
  void open(uint32_t row) {
    if (length_ != 0 && spans_.key[row] != key_) flush();
    key_ = spans_.key[row];
    length_ += spans_.end[row] - spans_.start[row];
  }

  void flush() {
    for (const int32_t label : touched_) {
      int64_t& sum = sums_[static_cast<size_t>(label)];
      emit(label, sum);
      sum = 0;
    }
    touched_.clear();
    if (length_ > covered_) emit(-1, length_ - covered_);
    length_ = covered_ = 0;
  }

  void emit(int32_t label, int64_t ns) {
    out_.key.push_back(key_);
    out_.label.push_back(label);
    out_.ns.push_back(ns);
  }

  const BlamedSpans& spans_;
  const uint32_t* order_;
  size_t count_;
  std::vector<int64_t>& sums_;  // by label, all zero between keys
  BlameRows& out_;
  std::vector<int32_t> touched_;
  size_t at_ = 0, opened_ = 0;
  int32_t key_ = 0;
  int64_t length_ = 0, covered_ = 0;
};

// What a lane does at each instant, from its states in order of their starts.
class Timeline {
 public:
  explicit Timeline(size_t ranks) : open_(ranks) {}

  void push(const ThreadStates& states, uint32_t row) {
    const State state{states.start[row], states.end[row], states.label[row]};
    std::vector<State>& stack = open_[states.rank[row]];
    auto place = stack.end();
    // Of those that start together the shortest is innermost.
    while (place != stack.begin() && std::prev(place)->start == state.start &&
           std::prev(place)->end < state.end) {
      --place;
    }
    stack.insert(place, state);
  }

  void advance(int64_t until, Ledger& ledger) {
    while (now_ < until) {
      const State* const state = current();
      if (state == nullptr) {
        now_ = until;
        return;
      }
      const int64_t end = std::min(state->end, until);
      ledger.add(now_, end, state->label);
      now_ = end;
    }
  }

  void restart(int64_t now) {
    now_ = now;
    for (std::vector<State>& stack : open_) stack.clear();
  }

 private:
  struct State {
    int64_t start, end;
    int32_t label;
  };

  const State* current() {
    for (std::vector<State>& stack : open_) {
      while (!stack.empty() && stack.back().end <= now_) stack.pop_back();
      if (!stack.empty()) return &stack.back();
    }
    return nullptr;
  }

  std::vector<std::vector<State>> open_;  // by rank
  int64_t now_ = 0;
};

std::vector<uint32_t> order_of_states(const ThreadStates& states) {
  return sort_order(
      KeyColumns{{{states.lane, IntType::I32}, {states.start, IntType::I64}}, states.rows});
}

std::vector<uint32_t> order_of_spans(const BlamedSpans& spans) {
  return sort_order(KeyColumns{
      {{spans.lane, IntType::I32}, {spans.group, IntType::I32}, {spans.start, IntType::I64}},
      spans.rows});
}

// End of the run of rows that agree with the row at `first`.
template <class Same>
size_t run_end(const std::vector<uint32_t>& order, size_t first, Same&& same) {
  size_t last = first + 1;
  while (last < order.size() && same(order[first], order[last])) ++last;
  return last;
}

}  // namespace

BlameRows blame(const ThreadStates& states, const BlamedSpans& spans) {
  check_intervals(states.start, states.end, states.rows);
  check_intervals(spans.start, spans.end, spans.rows);
  BlameRows out;
  if (spans.rows == 0) return out;
  int32_t labels = 0;
  size_t ranks = 0;
  for (size_t i = 0; i < states.rows; ++i) {
    labels = std::max(labels, states.label[i] + 1);
    ranks = std::max(ranks, static_cast<size_t>(states.rank[i]) + 1);
  }
  std::vector<int64_t> sums(static_cast<size_t>(labels));
  Timeline timeline(ranks);
  const std::vector<uint32_t> state_order = order_of_states(states);
  const std::vector<uint32_t> span_order = order_of_spans(spans);
  size_t state_first = 0;
  for (size_t first = 0; first < span_order.size();) {
    const int32_t lane = spans.lane[span_order[first]];
    const size_t last = run_end(span_order, first, [&](uint32_t a, uint32_t b) {
      return spans.lane[a] == spans.lane[b] && spans.group[a] == spans.group[b];
    });
    while (state_first < state_order.size() && states.lane[state_order[state_first]] < lane) {
      ++state_first;
    }
    Ledger ledger(spans, span_order.data() + first, last - first, sums, out);
    for (size_t i = first + 1; i < last; ++i) {
      if (spans.start[span_order[i]] < spans.end[span_order[i - 1]]) {
        throw std::invalid_argument("spans of one lane and group overlap");
      }
    }
    timeline.restart(ledger.first_start());
    const int64_t last_end = ledger.last_end();
    for (size_t i = state_first; i < state_order.size(); ++i) {
      const uint32_t row = state_order[i];
      if (states.lane[row] != lane || states.start[row] >= last_end) break;
      if (states.label[row] < 0 || states.end[row] <= ledger.first_start()) continue;
      timeline.advance(std::max(states.start[row], ledger.first_start()), ledger);
      timeline.push(states, row);
    }
    timeline.advance(last_end, ledger);
    ledger.finish();
    first = last;
  }
  return out;
}

}  // namespace dctx
