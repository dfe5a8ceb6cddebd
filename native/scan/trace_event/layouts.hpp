#pragma once
// What stands between the values of an event: quotes, keys, colons, blanks. The writers put the
// same bytes there again and again, so each sequence of them is learnt once, and comparing with the
// learnt ones replaces reading. The results are those of reading: a learnt sequence is one that was
// read strictly and was sound.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "scan/trace_event/event.hpp"
#include "scan/trace_event/seen_texts.hpp"
#include "scan/trace_event/text_interner.hpp"

namespace dctx::trace_event {

class Layouts {
 public:
  explicit Layouts(size_t max_links);

  // Reads the event at `p` in a learnt layout; nullptr when it has none, and then `out` is of no
  // use. `end`: as the Lexer's.
  const char* read(const char* p, const char* end, size_t max_depth, Event& out);

  bool may_learn() const { return links_.size() < max_links_; }
  // The event from `begin` to `end`, its values in `trail`.
  void learn(const char* begin, const char* end, const Trail& trail);
  // From now on the args of events of the last one's layout are listed.
  void list_args();

 private:
  static constexpr size_t kMostText = kPadding;
  static constexpr size_t kMostConstants = 3;
  static constexpr size_t kShort = 16;  // bytes of a pid or tid that is expected again
  static constexpr size_t kMostSiblings = 48;

  // A text that is the same in many events, and so part of the layout: phase, category, and the
  // name of flows.
  struct Constant {
    Token Event::* field = nullptr;
    size_t at = 0;  // in the text
    size_t size = 0;
    SeenText seen;  // its id alone counts
  };
  // The bytes up to a value, and which value it is. Behind it, one of the children comes. What
  // each event needs is at the front.
  struct Link {
    char text[kMostText] = {};
    uint32_t size = 0;
    ValueKind kind = ValueKind::End;
    Arg arg = Arg::Other;
    uint8_t constant_count = 0;
    bool lists = false;      // puts args into the event's list
    Link* likely = nullptr;  // the child that came last; behind an end the event that did
    Token Event::* field = nullptr;
    bool other_args = false;  // up to here some have no column
    uint16_t key_back = 0;    // from the value to the text of its key
    uint16_t key_size = 0;
    uint16_t number = 0;
    uint64_t history = 0;  // ids of the last names
    SeenText* last_name = nullptr;
    SeenText last;  // expected by place, its text in last_text
    char last_text[kShort] = {};
    ArgSet present;  // the args with a column up to here
    std::array<Constant, kMostConstants> constants;
    Link* parent = nullptr;
    Link* first_child = nullptr;
    Link* sibling = nullptr;
  };

  static bool stands_at(const Link& link, const char* p) {
    return same_bytes(p, link.text, link.size);
  }
  static Link* choose_other(Link& parent, Link*& likely, const char* p);
  Link* add(Link& parent, Link& link);
  SeenText& expected(const Link& link);
  const char* read_other(const char* p, Link& link, Lexer<false>& lexer, Event& out);
  static const char* read_field(const char* p, Link& link, Lexer<false>& lexer, Event& out);
  static const char* read_place(const char* p, Link& link, Lexer<false>& lexer, Event& out);
  const char* read_name(const char* p, Link& link, Lexer<false>& lexer, Event& out);
  static EventArg& list(const char* p, const Link& link, Event& out);
  static const char* read_odd_time(const char* p, Lexer<false>& lexer, Event& out, Micros& time,
                                   TimeState& state);
  const char* read_odd(const char* p, const Link& link, ArgType type, Lexer<false>& lexer,
                       Event& out);
  const char* read_real(const char* p, const Link& link, Lexer<false>& lexer, Event& out);
  const char* read_text(const char* p, const Link& link, Lexer<false>& lexer, Event& out);

  size_t max_links_;
  std::deque<Link> links_;
  Link root_;
  Link* last_ = &root_;  // how the last event ended
  SeenTexts seen_;
  const SeenText* name_ = nullptr;  // of the event
  uint64_t context_ = 0;            // what came before it
  ArgSet missing_;                  // columns whose value is none
  TextInterner real_texts_;
  std::vector<double> reals_;  // by id of the text
};

}  // namespace dctx::trace_event
